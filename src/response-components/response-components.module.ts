import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { ComponentsOfRuns } from './application/components-of-runs.js';
import { ComponentsPromptSource } from './application/components.prompt-source.js';
import { PresentComponents } from './application/present-components.tool-source.js';

/** Buttons, cards and lists that agents show beside the text of a reply. */
@Module({
  imports: [AccessModule],
  providers: [ComponentsOfRuns, ComponentsPromptSource, PresentComponents],
  exports: [ComponentsPromptSource, PresentComponents],
})
export class ResponseComponentsModule {}
