import { createHash } from 'node:crypto';
import { startAuthorization } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, isForeignKeyViolation, type Transaction } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { OAuthGrantRepository } from '../persistence/oauth-grant.repository.js';
import { OAuthSignInRepository } from '../persistence/oauth-sign-in.repository.js';
import { ClientIdentity } from './client-identity.js';
import { DiscoverAuthorization, type DiscoveredAuthorization } from './discover-authorization.js';
import { MAX_OPEN_SIGN_INS, MAX_URL_LENGTH, SIGN_IN_LIFETIME_MS } from './limits.js';
import { AuthorizationServerFailed, OAuthNotUsed } from './oauth.errors.js';
import { type ClientInformation, issuerOf, keptMetadata, type OAuthClient, requestOptions, type SignInSecrets } from './oauth-client.js';
import { type OAuthGrant, stateFor } from './oauth-grant.js';
import { OAuthSecrets } from './oauth-secrets.js';
import { OAuthIntegrations, type ProtectedServer } from './protected-server.js';
import { RegisterClient } from './register-client.js';
import { isScope, scopeToRequest } from './scopes.js';

const STATE_BYTES = 32;

export interface SignInRequest {
  readonly caller: ApiKeyPrincipal;
  readonly agentId: string;
  readonly integrationId: string;
  /** Where the browser goes once the sign-in is completed. */
  readonly redirectUrl: string;
  /** Where the caller reached the service. */
  readonly origin: string;
}

/** Begins a sign-in of a person to the server of an integration. Any number of them may be open. */
@Injectable()
export class StartSignIn {
  constructor(
    private readonly integrations: OAuthIntegrations,
    private readonly discovery: DiscoverAuthorization,
    private readonly registration: RegisterClient,
    private readonly identity: ClientIdentity,
    private readonly grants: OAuthGrantRepository,
    private readonly signIns: OAuthSignInRepository,
    private readonly secrets: OAuthSecrets,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the address at which the person signs in
   * @throws IntegrationNotFound, OAuthNotUsed, ForbiddenByAgentAllowlist, AuthorizationServerFailed
   */
  async execute(request: SignInRequest): Promise<string> {
    const server = await this.serverFor(request);
    const discovered = await this.discovery.execute(server);
    const granted = await this.grants.find(server.organizationId, server.integrationId);
    const grant = stateFor(granted, server) === 'authorized' ? granted : null;
    const scope = scopeFor(discovered, grant);
    const client = await this.clientFor(server, discovered, grant, this.identity.redirectUri(request.origin), scope);
    const state = secureRandomBytes(STATE_BYTES).toString('base64url');
    const { authorizationUrl, codeVerifier } = await startAuthorization(discovered.authorizationServerUrl, {
      ...requestOptions(client),
      redirectUrl: client.redirectUri,
      state,
      ...(scope !== undefined && { scope }),
    });
    const secrets = { client, codeVerifier, ...(scope !== undefined && { requestedScope: scope }) };
    await this.store(server, digestOf(state), request.redirectUrl, secrets);
    return authorizationUrl.href;
  }

  private async serverFor({ caller, agentId, integrationId }: SignInRequest): Promise<ProtectedServer> {
    const server = await this.integrations.changeableBy(caller, agentId, integrationId);
    if (!server) throw new OAuthNotUsed();
    return server;
  }

  private async clientFor(
    server: ProtectedServer,
    discovered: DiscoveredAuthorization,
    grant: OAuthGrant | null,
    redirectUri: string,
    scope: string | undefined,
  ): Promise<OAuthClient> {
    const client = describedClient(discovered, redirectUri);
    const known = grant && (await this.registered(server, client));
    return { ...client, information: known ?? (await this.registration.execute(discovered, redirectUri, scope)) };
  }

  /** The registration of a grant that works. One of a lost grant may be what was lost, so it is not used again. */
  private async registered(server: ProtectedServer, wanted: UnregisteredClient): Promise<ClientInformation | undefined> {
    const client = (await this.secrets.readableGrant(server))?.client;
    if (client?.redirectUri !== wanted.redirectUri || issuerOf(client) !== issuerOf(wanted)) return undefined;
    const { client_secret_expires_at: expiresAt = 0 } = client.information;
    const lastsUntil = this.clock.now().getTime() + SIGN_IN_LIFETIME_MS;
    return expiresAt === 0 || expiresAt * 1000 > lastsUntil ? client.information : undefined;
  }

  private async store(server: ProtectedServer, stateDigest: string, redirectUrl: string, secrets: SignInSecrets): Promise<void> {
    const { organizationId, integrationId, url: serverUrl } = server;
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LIFETIME_MS);
    const signIn = { stateDigest, organizationId, integrationId, serverUrl, redirectUrl, createdAt, expiresAt };
    try {
      await this.database.transaction(async (transaction) => {
        await this.makeRoom(transaction, server);
        await this.signIns.add(transaction, signIn);
        await this.secrets.putSignIn(transaction, server, stateDigest, secrets);
      });
    } catch (error) {
      // Removed while its server was asked.
      if (isForeignKeyViolation(error)) throw new IntegrationNotFound();
      throw error;
    }
  }

  private async makeRoom(transaction: Transaction, server: ProtectedServer): Promise<void> {
    const { organizationId, integrationId } = server;
    const old = await this.signIns.listBeyond(transaction, organizationId, integrationId, MAX_OPEN_SIGN_INS - 1);
    for (const { stateDigest } of old) {
      await this.signIns.removeOne(transaction, stateDigest);
      await this.secrets.removeSignIn(transaction, server, stateDigest);
    }
  }
}

/** How a sign-in is found by the `state` that only the browser has. */
export function digestOf(state: string): string {
  return createHash('sha256').update(state).digest('base64url');
}

type UnregisteredClient = Omit<OAuthClient, 'information'>;

/** @throws AuthorizationServerFailed */
function describedClient(discovered: DiscoveredAuthorization, redirectUri: string): UnregisteredClient {
  const { authorizationServerUrl, resource } = discovered;
  const metadata = discovered.metadata && keptMetadata(discovered.metadata);
  const isLong = authorizationServerUrl.length > MAX_URL_LENGTH || (resource?.length ?? 0) > MAX_URL_LENGTH;
  if (isLong || (discovered.metadata && !metadata)) {
    throw new AuthorizationServerFailed('The metadata of the authorization server of the tool server is larger than accepted.');
  }
  return { authorizationServerUrl, redirectUri, ...(metadata && { metadata }), ...(resource !== undefined && { resource }) };
}

/** @throws AuthorizationServerFailed */
function scopeFor(discovered: DiscoveredAuthorization, grant: OAuthGrant | null): string | undefined {
  const needed = grant?.neededScope ?? undefined;
  const scope = scopeToRequest({
    challenged: discovered.challengedScope,
    supported: discovered.supportedScopes,
    stepUp: grant && needed !== undefined ? { granted: grant.scope, needed } : undefined,
    ofAuthorizationServer: discovered.metadata?.scopes_supported,
  });
  if (scope !== undefined && !isScope(scope)) {
    throw new AuthorizationServerFailed('The tool server asks for permissions (scopes) that are not valid, or for too many.');
  }
  return scope;
}
