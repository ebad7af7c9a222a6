import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { ComponentsPromptSource } from './application/components.prompt-source.js';
import { PresentComponents } from './application/present-components.tool-source.js';
import { ResponseComponentsModule } from './response-components.module.js';

export const responseComponentsContext = {
  name: 'response-components',
  modules: [ResponseComponentsModule],
  runs: { promptSources: [ComponentsPromptSource], toolSources: [PresentComponents] },
} satisfies Context<RunExtensions>;
