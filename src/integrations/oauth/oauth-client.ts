import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { MAX_TOKEN_LENGTH } from '../../platform/oauth/index.js';
import { MAX_CLIENT_ID_LENGTH, MAX_URL_LENGTH } from './limits.js';

const url = z.string().max(MAX_URL_LENGTH);
const names = z.array(z.string().max(200)).max(100);

/** The stored part of an authorization server's metadata, under the names of RFC 8414. */
const metadataSchema = z.object({
  issuer: url,
  authorization_endpoint: url,
  token_endpoint: url,
  response_types_supported: names,
  token_endpoint_auth_methods_supported: names.optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});

/** The stored part of a registration, under the names of RFC 7591. */
export const clientInformationSchema = z.object({
  client_id: z.string().min(1).max(MAX_CLIENT_ID_LENGTH),
  client_secret: z.string().max(MAX_TOKEN_LENGTH).optional(),
  /** Unix time in seconds; 0 for never. */
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().max(100).optional(),
});

/** This service as a client of one authorization server: everything that a token request needs. */
const oauthClientSchema = z.object({
  authorizationServerUrl: url,
  /** Undefined if the server publishes none. Its endpoints then have the default paths. */
  metadata: metadataSchema.optional(),
  information: clientInformationSchema,
  redirectUri: url,
  /** RFC 8707, as the server spells it. */
  resource: url.optional(),
});

/** The stored data that completes a sign-in. */
export const signInSecretsSchema = z.object({
  client: oauthClientSchema,
  codeVerifier: z.string(),
  requestedScope: z.string().optional(),
});

export type ClientInformation = z.output<typeof clientInformationSchema>;
export type OAuthClient = z.output<typeof oauthClientSchema>;
export type SignInSecrets = z.output<typeof signInSecretsSchema>;

/** The client of a grant, as `IntegrationGrants` stores it. */
export function clientIn(json: string): OAuthClient {
  return oauthClientSchema.parse(JSON.parse(json));
}

/** @returns undefined if a field is missing or too long */
export function keptMetadata(metadata: AuthorizationServerMetadata): OAuthClient['metadata'] {
  return metadataSchema.safeParse(metadata).data;
}

/** The parameters that the functions of the MCP SDK have in common. */
export function requestOptions({ metadata, information, resource }: OAuthClient): {
  readonly metadata?: AuthorizationServerMetadata;
  readonly clientInformation: OAuthClientInformationMixed;
  readonly resource?: string;
} {
  return {
    ...(metadata && { metadata }),
    clientInformation: information,
    ...(resource !== undefined && { resource }),
  };
}

/** Identifies the authorization server: its issuer, or its address if it publishes no metadata. */
export function issuerOf({
  metadata,
  authorizationServerUrl,
}: Pick<OAuthClient, 'metadata' | 'authorizationServerUrl'>): string {
  return metadata?.issuer ?? authorizationServerUrl;
}
