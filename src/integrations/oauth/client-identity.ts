import { type OAuthClientMetadata, resolveClientMetadata } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';

const CALLBACK_PATH = '/v1/oauth/mcp/callback';
const METADATA_PATH = '/v1/oauth/mcp/client-metadata';
const CLIENT_NAME = 'Agent service';

/** How this service describes itself to authorization servers. */
@Injectable()
export class ClientIdentity {
  constructor(private readonly settings: Settings) {}

  /** @param origin at which the client reached the service, used if `PUBLIC_URL` is not set */
  redirectUri(origin: string): string {
    return `${this.settings.publicUrl ?? origin}${CALLBACK_PATH}`;
  }

  /** The address of `document`; undefined without a public https URL. */
  get metadataUrl(): string | undefined {
    const { publicUrl } = this.settings;
    return publicUrl?.startsWith('https://') ? `${publicUrl}${METADATA_PATH}` : undefined;
  }

  /** The client id metadata document; undefined without a `metadataUrl`. */
  get document(): Readonly<Record<string, unknown>> | undefined {
    const { metadataUrl } = this;
    if (metadataUrl === undefined) return undefined;
    return { client_id: metadataUrl, ...this.metadata(this.redirectUri('')), token_endpoint_auth_method: 'none' };
  }

  /** The client metadata of a registration. */
  metadata(redirectUri: string): OAuthClientMetadata {
    const clientMetadata = {
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
    return resolveClientMetadata({ redirectUrl: redirectUri, clientMetadata });
  }
}
