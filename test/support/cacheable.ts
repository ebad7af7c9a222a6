import type { ProviderType } from '../../src/models/index.js';

type Body = Readonly<Record<string, unknown>>;

/** The parts of a request that a provider caches, in the order in which it does: tools, system prompt, messages. */
export interface CacheablePrompt {
  readonly tools: string;
  readonly system: string;
  readonly messages: string;
}

export function cacheablePrompt(provider: ProviderType, body: Body): CacheablePrompt {
  const [system, messages] = {
    anthropic: ['system', 'messages'] as const,
    'claude-agent-sdk': ['system', 'messages'] as const,
    'openai-responses': ['instructions', 'input'] as const,
    gemini: ['systemInstruction', 'contents'] as const,
  }[provider];
  const text = (field: string): string => JSON.stringify(body[field] ?? '');
  return { tools: text('tools'), system: text(system), messages: text(messages) };
}

/** How many characters two requests have in common before their first difference. */
export function commonPrefix(one: CacheablePrompt, other: CacheablePrompt): number {
  const [left, right] = [wholeOf(one), wholeOf(other)];
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

export function wholeOf({ tools, system, messages }: CacheablePrompt): string {
  return tools + system + messages;
}
