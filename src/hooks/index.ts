import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { AgentRunHooks } from './application/agent-hooks.run-hooks.js';
import { SessionPromptSource } from './application/session.prompt-source.js';
import { HooksModule } from './hooks.module.js';
import { hooksSchema } from './persistence/hooks.schema.js';

export const hooksContext = {
  name: 'hooks',
  modules: [HooksModule],
  schema: hooksSchema,
  runs: { promptSources: [SessionPromptSource], hooks: [AgentRunHooks] },
} satisfies Context<RunExtensions>;

export { HooksModule, hooksSchema };
export { SessionStartOutcomes } from './application/session-start-outcomes.js';
export type { SessionStartOutcome } from './domain/session-start.js';
