import type { GatewaySettings, OpenGateway } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ProviderType } from './index.js';
import { apiOf } from './lookup.js';

/** The providers whose traffic a gateway carries. */
export const ROUTED_TYPES: readonly ProviderType[] = MODEL_PROVIDERS.filter(
  ({ gatewayPath }) => gatewayPath !== undefined,
).map(({ type }) => type);

/** Whether a gateway carries the traffic of the provider's model. */
export function isRouted(provider: ProviderType, model: string): boolean {
  return apiOf(provider, model).gatewayPath !== undefined;
}

/** What an agent runs on. */
export interface RoutedModel {
  readonly type: ProviderType;
  readonly model: string;
}

/** The way through a gateway; undefined for models whose provider a gateway does not carry. */
export function routeThrough(
  { edgeAccountId, gatewayName, token }: OpenGateway,
  { type, model }: RoutedModel,
  { baseUrl, tokenHeader }: GatewaySettings,
): ModelRoute | undefined {
  const { gatewayPath } = apiOf(type, model);
  if (gatewayPath === undefined) return undefined;
  const path = [edgeAccountId, gatewayName].map(encodeURIComponent).join('/');
  return { baseUrl: `${baseUrl}/${path}/${gatewayPath}`, headers: { [tokenHeader]: `Bearer ${token}` }, secret: token };
}
