import { z } from 'zod';
import { type Stored, storedObject } from '../../../platform/stored-json/index.js';
import type { ProviderSettings } from '../shared/provider.js';

export const THINKING_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ThinkingEffort = (typeof THINKING_EFFORTS)[number];

export const DEFAULT_THINKING_EFFORT: ThinkingEffort = 'medium';
export const TEMPERATURE = { min: 0, max: 1 } as const;

const thinking = z.discriminatedUnion('type', [
  storedObject({ type: z.literal('enabled'), effort: z.enum(THINKING_EFFORTS).default(DEFAULT_THINKING_EFFORT) }),
  storedObject({ type: z.literal('disabled') }),
]);
type Thinking = Stored<typeof thinking>;

const stored = storedObject({
  type: z.literal('anthropic'),
  thinking: thinking.nullable().default(null),
  temperature: z.number().nullable().default(null),
  webSearch: z.boolean().default(false),
});
export type AnthropicOptions = Stored<typeof stored>;

export interface AnthropicRequest {
  readonly type: 'anthropic';
  readonly thinking?: { readonly type: 'enabled' | 'disabled'; readonly effort?: ThinkingEffort };
  readonly temperature?: number | null;
  readonly webSearch?: boolean;
}

export const anthropicSettings: ProviderSettings<AnthropicOptions, AnthropicRequest> = {
  stored,
  initial: stored.parse({ type: 'anthropic' }),
  quick: { type: 'anthropic', thinking: { type: 'disabled' }, temperature: null, webSearch: false },
  merge(current, { thinking, temperature = current.temperature, webSearch = current.webSearch }) {
    return { ...current, thinking: thinking ? withEffort(thinking) : current.thinking, temperature, webSearch };
  },
  describe: ({ thinking, temperature, webSearch }) => ({ thinking, temperature, webSearch }),
  withWebSearch: (options) => ({ ...options, webSearch: true }),
};

function withEffort({ type, effort = DEFAULT_THINKING_EFFORT }: NonNullable<AnthropicRequest['thinking']>): Thinking {
  return type === 'enabled' ? { type, effort } : { type };
}
