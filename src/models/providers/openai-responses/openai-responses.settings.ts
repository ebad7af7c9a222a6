import type { ProviderSettings } from '../shared/provider.js';

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export const VERBOSITIES = ['low', 'medium', 'high'] as const;
export type TextVerbosity = (typeof VERBOSITIES)[number];

export interface OpenAiOptions {
  readonly type: 'openai-responses';
  readonly reasoningEffort: ReasoningEffort | null;
  readonly verbosity: TextVerbosity | null;
}

/** The settings that a caller may send. */
export interface OpenAiRequest {
  readonly type: 'openai-responses';
  readonly reasoning?: { readonly effort?: ReasoningEffort | null };
  readonly text?: { readonly verbosity?: TextVerbosity | null };
}

export const openAiSettings: ProviderSettings<OpenAiOptions, OpenAiRequest> = {
  initial: { type: 'openai-responses', reasoningEffort: null, verbosity: null },
  quick: { type: 'openai-responses', reasoningEffort: null, verbosity: 'low' },
  merge(current, { reasoning = {}, text = {} }) {
    const { effort = current.reasoningEffort } = reasoning;
    const { verbosity = current.verbosity } = text;
    return { ...current, reasoningEffort: effort, verbosity };
  },
  describe: ({ reasoningEffort, verbosity }) => ({ reasoning: { effort: reasoningEffort }, text: { verbosity } }),
};
