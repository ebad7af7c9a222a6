import type { Settings } from '../../platform/config/index.js';
import type { CatalogueModel } from '../domain/catalogue-model.js';
import {
  type AgentProvider,
  MODEL_PROVIDERS,
  type ModelProvider,
  type ModelRequest,
  PROVIDERS,
  type ProviderType,
  type ModelOptions,
} from './index.js';

const AGENT_PROVIDERS: readonly AgentProvider[] = PROVIDERS;

export function providerOf(type: ProviderType): AgentProvider {
  const provider = AGENT_PROVIDERS.find((each) => each.type === type);
  if (provider === undefined) throw new Error(`Unknown provider: ${type}`);
  return provider;
}

/** The provider whose API runs the model: the agent's, else the one whose catalogue has the model, else the first. */
export function apiOf(type: ProviderType, model: string): ModelProvider {
  const own = MODEL_PROVIDERS.find((each) => each.type === type);
  const api = own ?? MODEL_PROVIDERS.find(({ models }) => models.some(({ id }) => id === model)) ?? MODEL_PROVIDERS[0];
  if (api === undefined) throw new Error('No provider has an API');
  return api;
}

/** The request with options of the provider whose API runs the model. */
export function requestTo(api: ModelProvider, request: ModelRequest): ModelRequest {
  const { options } = request;
  if (options.type === api.type) return request;
  const isQuick = 'quick' in options && options.quick === true;
  return { ...request, options: isQuick ? api.settings.quick : api.settings.initial };
}

/** The provider that a key belongs to by its prefix; undefined if none matches. */
export function keyOwner(apiKey: string): ProviderType | undefined {
  const prefixes = MODEL_PROVIDERS.flatMap(({ type, keyPrefixes }) => keyPrefixes.map((prefix) => ({ type, prefix })));
  // Longest first, because one provider's prefix is the beginning of another's.
  return prefixes
    .toSorted((left, right) => right.prefix.length - left.prefix.length)
    .find(({ prefix }) => apiKey.startsWith(prefix))?.type;
}

export function findModel(provider: ProviderType, id: string): CatalogueModel | undefined {
  return providerOf(provider).models.find((model) => model.id === id);
}

export function defaultModel(provider: ProviderType): CatalogueModel {
  const model = providerOf(provider).models.find((candidate) => candidate.isDefault);
  if (model === undefined) throw new Error(`the catalogue has no default model for ${provider}`);
  return model;
}

export function takesMediaType(provider: ProviderType, model: string, mediaType: string): boolean {
  return !apiOf(provider, model).refusedMediaTypes.includes(mediaType);
}

/** Reads the settings of every provider, so that a wrong one stops the start of the service. @throws InvalidSetting */
export function checkProviderSettings(settings: Settings): void {
  for (const { environment } of MODEL_PROVIDERS) settings.managedProvider(environment);
}

/** The names of the tools that the provider runs itself for agents with these settings. */
export function providerTools(options: ModelOptions): readonly string[] {
  return 'webSearch' in options && options.webSearch ? ['web_search'] : [];
}
