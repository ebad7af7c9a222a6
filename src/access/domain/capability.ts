export const CAPABILITIES = ['chat', 'manageAgents', 'manageApiKeys'] as const;

/** Permissions of an API key. Routes that only read need none. */
export type Capability = (typeof CAPABILITIES)[number];

export function isCapability(value: string): value is Capability {
  return (CAPABILITIES as readonly string[]).includes(value);
}
