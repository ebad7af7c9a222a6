import type { RunExtensions } from '../../../../src/conversations/index.js';
import type { Context } from '../../../../src/platform/context/index.js';
import { LookUpTerm } from './application/look-up-term.tool-source.js';
import { GlossaryModule } from './glossary.module.js';
import { glossarySchema } from './persistence/glossary.schema.js';

export const glossaryContext = {
  name: 'glossary',
  modules: [GlossaryModule],
  schema: glossarySchema,
  runs: { toolSources: [LookUpTerm] },
} satisfies Context<RunExtensions>;

export { glossarySchema };
