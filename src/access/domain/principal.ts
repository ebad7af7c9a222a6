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

/** A visitor of a customer's site, in the one conversation that the pass was minted for. */
export interface SessionPassPrincipal {
  readonly kind: 'session_pass';
  readonly organizationId: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly threadId: string;
  /** The key of the session's `endUser`, which `UserKeys` of conversations makes; null when the session names none. */
  readonly userKey: string | null;
}

/** Who makes a request. A new kind joins this union, and the compiler then shows every decision it takes part in. */
export type Principal = ApiKeyPrincipal | SessionPassPrincipal;

/** Whether the principal may reach an agent that is known to be of its organization. */
export function mayUseAgent(principal: Principal, agentId: string): boolean {
  switch (principal.kind) {
    case 'api_key':
      return principal.agentIds?.has(agentId) ?? true;
    case 'session_pass':
      return principal.agentId === agentId;
    default:
      return principal satisfies never;
  }
}

/** A session pass has none: it opens the routes that say so, whatever capability they need of a key. */
export function hasCapability(principal: Principal, capability: Capability): boolean {
  return principal.kind === 'api_key' && principal.capabilities.has(capability);
}
