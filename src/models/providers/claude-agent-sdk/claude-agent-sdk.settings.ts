import { z } from 'zod';
import { type Stored, storedObject } from '../../../platform/stored-json/index.js';
import type { ProviderSettings } from '../shared/provider.js';

/** Agents of the provider have no settings. */
const stored = storedObject({ type: z.literal('claude-agent-sdk') });
export type ClaudeAgentOptions = Stored<typeof stored> & {
  /** Asks for a fast response; never stored. */
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
