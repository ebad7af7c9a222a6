import type { ApiKeyPrincipal } from '../../access/index.js';
import type { TransportType } from '../domain/integration.js';

/** The tool server of an integration that authenticates with OAuth. */
export interface ProtectedServer {
  readonly organizationId: string;
  readonly integrationId: string;
  /** A grant counts for this address alone. */
  readonly url: string;
  readonly transport: TransportType;
}

/** How the sign-in finds the integration that it is for. */
export abstract class OAuthIntegrations {
  /**
   * For a caller who wants to sign in, which counts for every agent that uses the integration.
   * @returns null when it does not authenticate with OAuth
   * @throws IntegrationNotFound when the agent has no such integration; ForbiddenByAgentAllowlist
   */
  abstract changeableBy(
    caller: ApiKeyPrincipal,
    agentId: string,
    integrationId: string,
  ): Promise<ProtectedServer | null>;

  /** As it is now. @returns null when the integration is gone or no longer authenticates with OAuth */
  abstract serverOf(organizationId: string, integrationId: string): Promise<ProtectedServer | null>;

  /**
   * Resolves when the server has been asked with the new grant, so that a caller who reads the integration then finds it as
   * it is, or after a few seconds. Never rejects.
   */
  abstract signedIn(integrationId: string): Promise<void>;
}
