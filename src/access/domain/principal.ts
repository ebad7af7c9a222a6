import type { Capability } from './capability.js';

export interface ApiKeyPrincipal {
  readonly kind: 'api_key';
  readonly keyId: string;
  readonly organizationId: string;
  /** The member who issued the key; what the key does, it does as this person. */
  readonly memberId: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** The key's allowlist; null means every agent of the organization. */
  readonly agentIds: ReadonlySet<string> | null;
}

/** Who makes a request. A new kind joins this union, and the compiler then shows every decision it takes part in. */
export type Principal = ApiKeyPrincipal;

/** Whether the allowlist lets the principal reach an agent that is known to be of its organization. */
export function mayUseAgent(principal: Principal, agentId: string): boolean {
  return principal.agentIds?.has(agentId) ?? true;
}

export function hasCapability(principal: Principal, capability: Capability): boolean {
  return principal.capabilities.has(capability);
}
