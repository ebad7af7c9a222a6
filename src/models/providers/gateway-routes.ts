import type { GatewaySettings, GatewayWithToken } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ProviderType } from './index.js';
import { apiOf } from './lookup.js';

/** The providers whose requests a gateway can forward. */
export const ROUTED_TYPES: readonly ProviderType[] = MODEL_PROVIDERS.filter(
  ({ gatewayPath }) => gatewayPath !== undefined,
).map(({ type }) => type);

/** Whether a gateway can forward requests to the model. */
export function isRouted(provider: ProviderType, model: string): boolean {
  return apiOf(provider, model).gatewayPath !== undefined;
}

/** The provider and model of an agent. */
export interface RoutedModel {
  readonly type: ProviderType;
  readonly model: string;
}

/** The route through a gateway; undefined if the gateway cannot forward requests to the provider. */
export function routeThrough(
  { edgeAccountId, gatewayName, token }: GatewayWithToken,
  { type, model }: RoutedModel,
  { baseUrl, tokenHeader }: GatewaySettings,
): ModelRoute | undefined {
  const { gatewayPath } = apiOf(type, model);
  if (gatewayPath === undefined) return undefined;
  const path = [edgeAccountId, gatewayName].map(encodeURIComponent).join('/');
  return { baseUrl: `${baseUrl}/${path}/${gatewayPath}`, headers: { [tokenHeader]: `Bearer ${token}` }, secret: token };
}
