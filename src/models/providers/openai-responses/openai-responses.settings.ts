import { z } from 'zod';
import { type Stored, storedObject } from '../../../platform/stored-json/index.js';
import type { ProviderSettings } from '../shared/provider.js';

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export type TextVerbosity = (typeof VERBOSITIES)[number];

const stored = storedObject({
  type: z.literal('openai-responses'),
  reasoningEffort: z.enum(REASONING_EFFORTS).nullable().default(null),
  verbosity: z.enum(VERBOSITIES).nullable().default(null),
});
export type OpenAiOptions = Stored<typeof stored>;

export interface OpenAiRequest {
  readonly type: 'openai-responses';
  readonly reasoning?: { readonly effort?: ReasoningEffort | null };
  readonly text?: { readonly verbosity?: TextVerbosity | null };
}

export const openAiSettings: ProviderSettings<OpenAiOptions, OpenAiRequest> = {
  stored,
  initial: stored.parse({ type: 'openai-responses' }),
  quick: { type: 'openai-responses', reasoningEffort: null, verbosity: 'low' },
  merge(current, { reasoning = {}, text = {} }) {
    const { effort = current.reasoningEffort } = reasoning;
    const { verbosity = current.verbosity } = text;
    return { ...current, reasoningEffort: effort, verbosity };
  },
  describe: ({ reasoningEffort, verbosity }) => ({ reasoning: { effort: reasoningEffort }, text: { verbosity } }),
};
