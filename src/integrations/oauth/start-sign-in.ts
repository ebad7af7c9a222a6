import { computeScopeUnion, startAuthorization } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, isForeignKeyViolation } from '../../platform/database/index.js';
import { isScope, randomText, SIGN_IN_LIFETIME_MS } from '../../platform/oauth/index.js';
import { RequireChangeable } from '../application/require-changeable.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import type { StoredOAuthGrant } from '../persistence/oauth.schema.js';
import { ClientIdentity } from './client-identity.js';
import { DiscoverAuthorization, type DiscoveredAuthorization } from './discover-authorization.js';
import { MAX_URL_LENGTH } from './limits.js';
import { AuthorizationServerFailed, OAuthNotUsed } from './oauth.errors.js';
import {
  type ClientInformation,
  clientIn,
  issuerOf,
  keptMetadata,
  type OAuthClient,
  requestOptions,
  type SignInSecrets,
} from './oauth-client.js';
import { IntegrationGrants, ownerOf } from './integration-grants.js';
import { OpenSignIns } from './open-sign-ins.js';
import { type ProtectedServer, ProtectedServers } from './protected-servers.js';
import { RegisterClient } from './register-client.js';

/** Servers that support this scope give a refresh token only if the scope is requested. */
const OFFLINE_ACCESS = 'offline_access';

export interface SignInRequest {
  readonly caller: ApiKeyPrincipal;
  readonly agentId: string;
  readonly integrationId: string;
  /** Where the browser is redirected after the sign-in. */
  readonly redirectUrl: string;
  /** The origin at which the caller reached the service. */
  readonly origin: string;
}

/** Starts a person's sign-in to the server of an integration. Several may be open at once. */
@Injectable()
export class StartSignIn {
  constructor(
    private readonly requireChangeable: RequireChangeable,
    private readonly integrations: IntegrationRepository,
    private readonly servers: ProtectedServers,
    private readonly discovery: DiscoverAuthorization,
    private readonly registration: RegisterClient,
    private readonly identity: ClientIdentity,
    private readonly grants: IntegrationGrants,
    private readonly signIns: OpenSignIns,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the address at which the person signs in
   * @throws IntegrationNotFound, OAuthNotUsed, ForbiddenByAgentAllowlist, AuthorizationServerFailed
   */
  async execute(request: SignInRequest): Promise<string> {
    const { caller, agentId, integrationId } = request;
    await this.requireChangeable.execute(caller, agentId, integrationId);
    const integration = await this.integrations.findForAgent(caller.organizationId, agentId, integrationId);
    if (!integration) throw new IntegrationNotFound();
    const server = this.servers.of(integration);
    if (!server) throw new OAuthNotUsed();
    const discovered = await this.discovery.execute(server);
    const granted = await this.grants.find(ownerOf(server));
    const grant = granted?.serverUrl === server.url && granted.status === 'authorized' ? granted : null;
    const scope = scopeFor(discovered, grant);
    const client = await this.clientFor(server, discovered, grant, this.identity.redirectUri(request.origin), scope);
    const state = randomText();
    const { authorizationUrl, codeVerifier } = await startAuthorization(discovered.authorizationServerUrl, {
      ...requestOptions(client),
      redirectUrl: client.redirectUri,
      state,
      ...(scope !== undefined && { scope }),
    });
    const secrets = { client, codeVerifier, ...(scope !== undefined && { requestedScope: scope }) };
    await this.store(server, state, request.redirectUrl, secrets);
    return authorizationUrl.href;
  }

  private async clientFor(
    server: ProtectedServer,
    discovered: DiscoveredAuthorization,
    grant: StoredOAuthGrant | null,
    redirectUri: string,
    scope: string | undefined,
  ): Promise<OAuthClient> {
    const client = describedClient(discovered, redirectUri);
    const known = grant && (await this.registered(server, client));
    return { ...client, information: known ?? (await this.registration.execute(discovered, redirectUri, scope)) };
  }

  /** The registration of a valid grant. That of a lost grant is not reused, because its loss may be the reason. */
  private async registered(
    server: ProtectedServer,
    wanted: UnregisteredClient,
  ): Promise<ClientInformation | undefined> {
    const json = (await this.grants.secretsOf(ownerOf(server)))?.client;
    const client = json === undefined ? undefined : clientIn(json);
    if (client?.redirectUri !== wanted.redirectUri || issuerOf(client) !== issuerOf(wanted)) return undefined;
    const { client_secret_expires_at: expiresAt = 0 } = client.information;
    const lastsUntil = this.clock.now().getTime() + SIGN_IN_LIFETIME_MS;
    return expiresAt === 0 || expiresAt * 1000 > lastsUntil ? client.information : undefined;
  }

  private async store(
    { organizationId, integrationId: ownerId, url: serverUrl }: ProtectedServer,
    state: string,
    redirectUrl: string,
    secrets: SignInSecrets,
  ): Promise<void> {
    const signIn = { organizationId, ownerId, serverUrl, redirectUrl };
    try {
      await this.database.transaction((transaction) =>
        this.signIns.add(transaction, state, signIn, JSON.stringify(secrets)),
      );
    } catch (error) {
      // The integration was removed meanwhile.
      if (isForeignKeyViolation(error)) throw new IntegrationNotFound();
      throw error;
    }
  }
}

type UnregisteredClient = Omit<OAuthClient, 'information'>;

/** @throws AuthorizationServerFailed */
function describedClient(discovered: DiscoveredAuthorization, redirectUri: string): UnregisteredClient {
  const { authorizationServerUrl, resource } = discovered;
  const metadata = discovered.metadata && keptMetadata(discovered.metadata);
  const isLong = authorizationServerUrl.length > MAX_URL_LENGTH || (resource?.length ?? 0) > MAX_URL_LENGTH;
  if (isLong || (discovered.metadata && !metadata)) {
    throw new AuthorizationServerFailed(
      'The metadata of the authorization server of the tool server is larger than accepted.',
    );
  }
  return {
    authorizationServerUrl,
    redirectUri,
    ...(metadata && { metadata }),
    ...(resource !== undefined && { resource }),
  };
}

/** @returns undefined if neither the server nor its metadata names scopes. @throws AuthorizationServerFailed */
function scopeFor(
  { challengedScope, supportedScopes, metadata }: DiscoveredAuthorization,
  grant: StoredOAuthGrant | null,
): string | undefined {
  const wanted = challengedScope ?? supportedScopes?.join(' ');
  // The scopes of the earlier sign-in, and those that later calls lacked.
  const stepUp = grant && grant.neededScope !== null ? [grant.scope ?? undefined, grant.neededScope] : [];
  const base = computeScopeUnion(wanted, ...stepUp);
  const isOffered = metadata?.scopes_supported?.includes(OFFLINE_ACCESS) ?? false;
  const scope = base !== undefined && isOffered ? computeScopeUnion(base, OFFLINE_ACCESS) : base;
  if (scope !== undefined && !isScope(scope)) {
    throw new AuthorizationServerFailed(
      'The tool server asks for permissions (scopes) that are not valid, or for too many.',
    );
  }
  return scope;
}
