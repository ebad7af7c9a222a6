import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/index.js';
import { ClientIdentity } from './client-identity.js';
import type { DiscoveredAuthorization } from './discover-authorization.js';
import { REQUEST_MS } from './limits.js';
import { AuthorizationServerFailed } from './oauth.errors.js';
import { type ClientInformation, clientInformationSchema } from './oauth-client.js';
import { OAuthHttp } from './oauth-http.js';

/** In the order of preference. A server without a list supports the first (RFC 8414). */
const AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'none'];

/** Registers this service with an authorization server: by the address of its metadata document, or by RFC 7591. */
@Injectable()
export class RegisterClient {
  constructor(
    private readonly http: OAuthHttp,
    private readonly identity: ClientIdentity,
  ) {}

  /** @throws AuthorizationServerFailed */
  async execute(
    { metadata, authorizationServerUrl }: DiscoveredAuthorization,
    redirectUri: string,
    scope: string | undefined,
  ): Promise<ClientInformation> {
    const { metadataUrl } = this.identity;
    if (metadata?.client_id_metadata_document_supported === true && metadataUrl !== undefined) {
      return { client_id: metadataUrl };
    }
    const endpoint = metadata ? metadata.registration_endpoint : String(new URL('/register', authorizationServerUrl));
    if (endpoint === undefined) {
      throw new AuthorizationServerFailed(
        'The authorization server of the tool server does not let clients register themselves, so this service cannot start a sign-in to it.',
      );
    }
    const body = {
      ...this.identity.metadata(redirectUri),
      ...(scope !== undefined && { scope }),
      ...authenticationMethod(metadata),
    };
    return register(this.http.within(REQUEST_MS), endpoint, body);
  }
}

function authenticationMethod(metadata: AuthorizationServerMetadata | undefined): {
  readonly token_endpoint_auth_method?: string;
} {
  const supported = metadata?.token_endpoint_auth_methods_supported ?? AUTHENTICATION_METHODS;
  const method = AUTHENTICATION_METHODS.find((known) => supported.includes(known));
  return method === undefined ? {} : { token_endpoint_auth_method: method };
}

async function register(fetchFn: FetchLike, endpoint: string, metadata: object): Promise<ClientInformation> {
  try {
    const response = await fetchFn(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(metadata),
    });
    if (!response.ok) throw registrationFailure(`HTTP ${response.status}`);
    return clientInformationSchema.parse(await response.json());
  } catch (error) {
    if (error instanceof AuthorizationServerFailed) throw error;
    if (error instanceof DomainError) throw registrationFailure(error.detail ?? error.message, ` ${error.message}`);
    throw registrationFailure(error instanceof Error ? error.name : '');
  }
}

function registrationFailure(detail: string, reason = ''): AuthorizationServerFailed {
  return new AuthorizationServerFailed(
    `The authorization server of the tool server did not register this service as its client.${reason}`,
    detail,
  );
}
