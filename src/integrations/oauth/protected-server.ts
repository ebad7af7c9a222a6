import type { TransportType } from '../domain/integration.js';

/** The tool server of an integration that authenticates with OAuth. */
export interface ProtectedServer {
  readonly organizationId: string;
  readonly integrationId: string;
  /** A grant counts for this address alone. */
  readonly url: string;
  readonly transport: TransportType;
}

/** An integration as the sign-in needs it. */
export interface AuthorizableIntegration {
  /** Null where the integration does not authenticate with OAuth. */
  readonly server: ProtectedServer | null;
  /** Every agent that uses the record. */
  readonly agentIds: readonly string[];
}

/** How the sign-in finds the integration that it is for. */
export abstract class OAuthIntegrations {
  /** @returns null when the agent has no such integration */
  abstract find(
    organizationId: string,
    agentId: string,
    integrationId: string,
  ): Promise<AuthorizableIntegration | null>;

  /** As it is now. @returns null when the integration is gone or no longer authenticates with OAuth */
  abstract serverOf(organizationId: string, integrationId: string): Promise<ProtectedServer | null>;

  /**
   * Resolves when the server has been asked with the new grant, so that whoever reads the integration then finds it as
   * it is, or after a few seconds. Never rejects.
   */
  abstract signedIn(integrationId: string): Promise<void>;
}
