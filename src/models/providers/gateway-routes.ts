import type { GatewaySettings, OpenGateway } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ProviderType } from './index.js';
import { providerOf } from './lookup.js';

/** The providers whose traffic a gateway carries. */
export const ROUTED_TYPES: readonly ProviderType[] = MODEL_PROVIDERS.filter(
  ({ gatewayPath }) => gatewayPath !== undefined,
).map(({ type }) => type);

/** Whether a gateway carries the traffic of this provider. */
export function isRouted(provider: ProviderType): boolean {
  return providerOf(provider).gatewayPath !== undefined;
}

/** The way through a gateway; undefined for providers that a gateway does not carry. */
export function routeThrough(
  { edgeAccountId, gatewayName, token }: OpenGateway,
  provider: ProviderType,
  { baseUrl, tokenHeader }: GatewaySettings,
): ModelRoute | undefined {
  const { gatewayPath } = providerOf(provider);
  if (gatewayPath === undefined) return undefined;
  const path = [edgeAccountId, gatewayName].map(encodeURIComponent).join('/');
  return { baseUrl: `${baseUrl}/${path}/${gatewayPath}`, headers: { [tokenHeader]: `Bearer ${token}` }, secret: token };
}
