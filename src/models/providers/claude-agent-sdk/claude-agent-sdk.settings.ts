import { z } from 'zod';
import { type Stored, storedObject } from '../../../platform/stored-json/index.js';
import type { ProviderSettings } from '../shared/provider.js';

/** The provider's agents have no settings of their own. */
const stored = storedObject({ type: z.literal('claude-agent-sdk') });
export type ClaudeAgentOptions = Stored<typeof stored> & {
  /** Of an answer that must come fast; never stored. */
  readonly quick?: true;
};

const NONE: ClaudeAgentOptions = { type: 'claude-agent-sdk' };

export const claudeAgentSettings: ProviderSettings<ClaudeAgentOptions, ClaudeAgentOptions> = {
  stored,
  initial: NONE,
  quick: { ...NONE, quick: true },
  merge: (current) => current,
  describe: () => ({}),
};
