import type { ProviderSettings } from '../shared/provider.js';

export const THINKING_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ThinkingEffort = (typeof THINKING_EFFORTS)[number];

export const DEFAULT_THINKING_EFFORT: ThinkingEffort = 'medium';
export const TEMPERATURE = { min: 0, max: 1 } as const;

type Thinking = { readonly type: 'enabled'; readonly effort: ThinkingEffort } | { readonly type: 'disabled' };

export interface AnthropicOptions {
  readonly type: 'anthropic';
  readonly thinking: Thinking | null;
  readonly temperature: number | null;
  readonly webSearch: boolean;
}

/** The settings that a caller may send. */
export interface AnthropicRequest {
  readonly type: 'anthropic';
  readonly thinking?: { readonly type: 'enabled' | 'disabled'; readonly effort?: ThinkingEffort };
  readonly temperature?: number | null;
  readonly webSearch?: boolean;
}

export const anthropicSettings: ProviderSettings<AnthropicOptions, AnthropicRequest> = {
  initial: { type: 'anthropic', thinking: null, temperature: null, webSearch: false },
  quick: { type: 'anthropic', thinking: { type: 'disabled' }, temperature: null, webSearch: false },
  merge(current, { thinking, temperature = current.temperature, webSearch = current.webSearch }) {
    return { ...current, thinking: thinking ? chosen(thinking) : current.thinking, temperature, webSearch };
  },
  describe: ({ thinking, temperature, webSearch }) => ({ thinking, temperature, webSearch }),
  withWebSearch: (options) => ({ ...options, webSearch: true }),
};

function chosen({ type, effort = DEFAULT_THINKING_EFFORT }: NonNullable<AnthropicRequest['thinking']>): Thinking {
  return type === 'enabled' ? { type, effort } : { type };
}
