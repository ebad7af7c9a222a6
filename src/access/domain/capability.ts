export const CAPABILITIES = ['chat', 'manageAgents', 'manageApiKeys'] as const;

/** What an API key may do; reading needs none. */
export type Capability = (typeof CAPABILITIES)[number];

export function isCapability(value: string): value is Capability {
  return (CAPABILITIES as readonly string[]).includes(value);
}
