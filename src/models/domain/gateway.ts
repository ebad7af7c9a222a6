import type { ModelRoute } from './model-runtime.js';
import type { ProviderType } from './provider-type.js';

/** Where a routing gateway takes traffic; its token is in the vault. */
export interface GatewayAddress {
  readonly edgeAccountId: string;
  readonly gatewayName: string;
}

/** The gateway that an organization's agents route through unless they say otherwise. */
export interface OrganizationGateway extends GatewayAddress {
  readonly updatedAt: Date;
}

/** As the operator has set it. */
export interface GatewaySettings {
  readonly baseUrl: string;
  readonly tokenHeader: string;
}

/** A gateway with what opens it. */
export interface OpenGateway extends GatewayAddress {
  readonly token: string;
}

/** The providers whose traffic a gateway carries, by the last part of the address that carries it. */
const ROUTED: Readonly<Partial<Record<ProviderType, string>>> = {
  anthropic: 'anthropic',
  'openai-responses': 'openai',
};

/** Whether a gateway carries the traffic of this provider. */
export function isRouted(provider: ProviderType): boolean {
  return ROUTED[provider] !== undefined;
}

/** The way through a gateway; undefined for providers that a gateway does not carry. */
export function routeThrough(
  { edgeAccountId, gatewayName, token }: OpenGateway,
  provider: ProviderType,
  { baseUrl, tokenHeader }: GatewaySettings,
): ModelRoute | undefined {
  const name = ROUTED[provider];
  if (name === undefined) return undefined;
  const path = [edgeAccountId, gatewayName].map(encodeURIComponent).join('/');
  return { baseUrl: `${baseUrl}/${path}/${name}`, headers: { [tokenHeader]: `Bearer ${token}` }, secret: token };
}

/** In characters: an account id or a name, and a token. */
export const MAX_GATEWAY_NAME = 255;
export const MAX_GATEWAY_TOKEN = 4_096;

/** One part of a path: these two would lead out of the gateway's own. */
export const PATH_PART = /^(?!\.{1,2}$)/;

/** What an HTTP header takes, without spaces. */
export const HEADER_TOKEN = /^[\x21-\x7e]+$/;
