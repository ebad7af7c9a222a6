import {
  assertSecureTokenEndpoint,
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type FetchLike,
  IssuerMismatchError,
  LATEST_PROTOCOL_VERSION,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/index.js';
import { DISCOVERY_MS, MAX_URL_LENGTH } from './limits.js';
import { AuthorizationServerFailed } from './oauth.errors.js';
import { OAuthHttp } from './oauth-http.js';
import type { ProtectedServer } from './protected-servers.js';

/** How clients of a tool server are authorized. */
export interface DiscoveredAuthorization {
  readonly authorizationServerUrl: string;
  /** Undefined if the authorization server publishes none. Its endpoints then have the default paths. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** RFC 8707, as the server spells it; undefined if the server publishes no metadata. */
  readonly resource: string | undefined;
  readonly challengedScope: string | undefined;
  readonly supportedScopes: readonly string[] | undefined;
}

type Challenge = ReturnType<typeof extractWWWAuthenticateParams>;

/** Finds the authorization server of a tool server (RFC 9728, RFC 8414, OpenID Connect, and MCP 2025-03-26). */
@Injectable()
export class DiscoverAuthorization {
  constructor(private readonly http: OAuthHttp) {}

  /** @throws AuthorizationServerFailed */
  async execute(server: ProtectedServer): Promise<DiscoveredAuthorization> {
    try {
      return await this.discover(server, this.http.within(DISCOVERY_MS));
    } catch (error) {
      throw discoveryFailure(error);
    }
  }

  private async discover(server: ProtectedServer, fetchFn: FetchLike): Promise<DiscoveredAuthorization> {
    const challenge = await this.challengeOf(server);
    const resource = await resourceMetadata(server, challenge, fetchFn);
    const named = resource?.authorization_servers?.[0];
    const authorizationServerUrl = named ?? String(new URL('/', server.url));
    const options = { fetchFn, skipIssuerValidation: named === undefined };
    const metadata = await discoverAuthorizationServerMetadata(authorizationServerUrl, options);
    if (metadata) checkMetadata(metadata);
    if (metadata && named === undefined) checkOwnIssuer(metadata, authorizationServerUrl);
    return {
      authorizationServerUrl,
      metadata,
      resource: resource?.resource,
      challengedScope: challenge.scope,
      supportedScopes: resource?.scopes_supported,
    };
  }

  /** The server's challenge to a client without a token; empty if it accepts such a client. */
  private async challengeOf({ url, transport }: ProtectedServer): Promise<Challenge> {
    const response = await this.http.challengeOf(url, transport === 'sse' ? STREAM_REQUEST : INITIALIZE_REQUEST);
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }
}

const STREAM_REQUEST = { method: 'GET', headers: { accept: 'text/event-stream' } };

const INITIALIZE_REQUEST = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: 'agent-service', version: '1.0.0' },
    },
  }),
};

async function resourceMetadata(
  server: ProtectedServer,
  { resourceMetadataUrl }: Challenge,
  fetchFn: FetchLike,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  let metadata: OAuthProtectedResourceMetadata;
  try {
    const options = resourceMetadataUrl ? { resourceMetadataUrl } : {};
    metadata = await discoverOAuthProtectedResourceMetadata(server.url, options, fetchFn);
  } catch (error) {
    // A server of 2025-03-26 has none, and is its own authorization server. A server that cannot be reached, or that sent
    // the address of its metadata, is not such a server.
    if (error instanceof DomainError || resourceMetadataUrl) throw error;
    return undefined;
  }
  if (!checkResourceAllowed({ requestedResource: server.url, configuredResource: metadata.resource })) {
    throw new AuthorizationServerFailed(
      'The metadata of the tool server is for another server, so a sign-in to it is not safe.',
      'the resource of its metadata is not its address',
    );
  }
  return metadata;
}

/** @throws AuthorizationServerFailed if a sign-in would be unsafe or cannot work */
function checkMetadata(metadata: AuthorizationServerMetadata): void {
  const {
    authorization_endpoint: authorization,
    token_endpoint: token,
    registration_endpoint: registration,
  } = metadata;
  if (![authorization, token, registration].every((endpoint) => endpoint === undefined || isSecure(endpoint))) {
    throw new AuthorizationServerFailed(
      'An address of the authorization server of the tool server is not an https URL.',
    );
  }
  if (!metadata.response_types_supported.includes('code')) {
    throw new AuthorizationServerFailed(
      'The authorization server of the tool server does not offer sign-ins with a code.',
    );
  }
  if (!metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new AuthorizationServerFailed(
      'The authorization server of the tool server does not offer PKCE with S256, which the protocol requires.',
    );
  }
}

/** Servers of 2025-03-26 publish metadata at the root of their host, even if their issuer has a path. */
function checkOwnIssuer({ issuer }: AuthorizationServerMetadata, authorizationServerUrl: string): void {
  if (URL.parse(issuer)?.origin !== new URL(authorizationServerUrl).origin) throw wrongIssuer();
}

function wrongIssuer(): AuthorizationServerFailed {
  return new AuthorizationServerFailed(
    'The issuer in the metadata of the authorization server is not the authorization server of the tool server.',
  );
}

function isSecure(endpoint: string): boolean {
  try {
    // Accepts any protocol on a loopback address.
    const { protocol } = assertSecureTokenEndpoint(endpoint);
    return ['http:', 'https:'].includes(protocol) && endpoint.length <= MAX_URL_LENGTH;
  } catch {
    return false;
  }
}

function discoveryFailure(error: unknown): AuthorizationServerFailed {
  if (error instanceof AuthorizationServerFailed) return error;
  if (error instanceof DomainError) {
    return new AuthorizationServerFailed(
      `The tool server or its authorization server could not be reached to start a sign-in. ${error.message}`,
      error.detail,
    );
  }
  if (error instanceof IssuerMismatchError) return wrongIssuer();
  const detail = error instanceof Error ? error.name : undefined;
  return new AuthorizationServerFailed(
    'The authorization metadata of the tool server is missing or not valid.',
    detail,
  );
}
