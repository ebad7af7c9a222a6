import type { Settings } from '../../platform/config/index.js';
import type { GatewayWithToken } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ProviderType } from './index.js';
import { apiOf } from './lookup.js';

export const ROUTED_TYPES: readonly ProviderType[] = MODEL_PROVIDERS.filter(
  ({ gatewayPath }) => gatewayPath !== undefined,
).map(({ type }) => type);

export function isRouted(provider: ProviderType, model: string): boolean {
  return apiOf(provider, model).gatewayPath !== undefined;
}

export interface RoutedModel {
  readonly type: ProviderType;
  readonly model: string;
}

/** The route through a gateway; undefined if the gateway cannot forward requests to the provider. */
export function routeThrough(
  { edgeAccountId, gatewayName, token }: GatewayWithToken,
  { type, model }: RoutedModel,
  { baseUrl, tokenHeader }: Settings['gateway'],
): ModelRoute | undefined {
  const { gatewayPath } = apiOf(type, model);
  if (gatewayPath === undefined) return undefined;
  const path = [edgeAccountId, gatewayName].map(encodeURIComponent).join('/');
  return { baseUrl: `${baseUrl}/${path}/${gatewayPath}`, headers: { [tokenHeader]: `Bearer ${token}` }, secret: token };
}
