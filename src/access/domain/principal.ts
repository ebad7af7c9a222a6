import type { Capability } from './capability.js';

export interface ApiKeyPrincipal {
  readonly kind: 'api_key';
  readonly keyId: string;
  readonly organizationId: string;
  /** The member who issued the key, and on whose behalf it acts. */
  readonly memberId: string;
  readonly capabilities: ReadonlySet<Capability>;
  /** The key's allowlist; null means every agent of the organization. */
  readonly agentIds: ReadonlySet<string> | null;
}

/** A visitor of a customer's site in one conversation, for which the pass was minted. */
export interface SessionPassPrincipal {
  readonly kind: 'session_pass';
  readonly organizationId: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly threadId: string;
  /** The key that `UserKeys` of conversations derives from the session's `endUser`; null when the session has none. */
  readonly userKey: string | null;
}

/** The caller of a request. When a kind is added here, the compiler reports every decision that has to handle it. */
export type Principal = ApiKeyPrincipal | SessionPassPrincipal;

/** @param agentId of an agent of the principal's organization */
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

/** A session pass has no capabilities. Routes that accept passes need none of them. */
export function hasCapability(principal: Principal, capability: Capability): boolean {
  return principal.kind === 'api_key' && principal.capabilities.has(capability);
}
