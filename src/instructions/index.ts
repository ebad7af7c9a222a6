import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { SectionsPromptSource } from './application/sections-prompt-source.js';
import { InstructionsModule } from './instructions.module.js';
import { instructionsSchema } from './persistence/instructions.schema.js';

export const instructionsContext = {
  name: 'instructions',
  modules: [InstructionsModule],
  schema: instructionsSchema,
  runs: { promptSources: [SectionsPromptSource] },
} satisfies Context<RunExtensions>;

export { instructionsSchema };
