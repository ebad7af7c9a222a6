import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { ChangeSections } from './application/change-sections.js';
import { SectionsAgentLookup } from './application/sections-agent-lookup.js';
import { SectionsPromptSource } from './application/sections-prompt-source.js';
import { SectionsVersionPart } from './application/sections-version-part.js';
import { SectionsController } from './http/sections.controller.js';
import { SectionRepository } from './persistence/section.repository.js';

/** The named sections that follow an agent's system prompt. */
@Module({
  imports: [AccessModule, AgentsModule],
  controllers: [SectionsController],
  providers: [ChangeSections, SectionRepository, SectionsAgentLookup, SectionsPromptSource, SectionsVersionPart],
  exports: [SectionsPromptSource],
})
export class InstructionsModule {}
