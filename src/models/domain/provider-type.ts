/** The provider an agent runs on; chosen at creation, never changed. */
export const PROVIDER_TYPES = ['anthropic', 'openai-responses', 'gemini'] as const;

export type ProviderType = (typeof PROVIDER_TYPES)[number];
