import type { CatalogueModel } from '../domain/catalogue-model.js';
import {
  type AgentProvider,
  MODEL_PROVIDERS,
  type ModelOptions,
  type ModelProvider,
  type ModelRequest,
  PROVIDERS,
  type ProviderType,
} from './index.js';

const BY_TYPE: ReadonlyMap<string, AgentProvider> = new Map<string, AgentProvider>(
  PROVIDERS.map((each) => [each.type, each]),
);
const API_BY_TYPE: ReadonlyMap<string, ModelProvider> = new Map(MODEL_PROVIDERS.map((each) => [each.type, each]));
const [FIRST_API] = MODEL_PROVIDERS;

export function providerOf(type: ProviderType): AgentProvider {
  const provider = BY_TYPE.get(type);
  if (provider === undefined) throw new Error(`Unknown provider: ${type}`);
  return provider;
}

/**
 * The provider whose API runs the model: the agent's, or if that has no API, the one whose catalogue has the model. For a model that
 * is in no catalogue any more it is the first provider.
 */
export function apiOf(type: ProviderType, model: string): ModelProvider {
  const api =
    API_BY_TYPE.get(type) ?? MODEL_PROVIDERS.find(({ models }) => models.some(({ id }) => id === model)) ?? FIRST_API;
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

/** Strongest first. */
export function modelsOf(provider: ProviderType): readonly CatalogueModel[] {
  return providerOf(provider).models;
}

export function findModel(provider: ProviderType, id: string): CatalogueModel | undefined {
  return modelsOf(provider).find((model) => model.id === id);
}

export function defaultModel(provider: ProviderType): CatalogueModel {
  const model = modelsOf(provider).find((candidate) => candidate.isDefault);
  if (model === undefined) throw new Error(`the catalogue has no default model for ${provider}`);
  return model;
}

/** Settings for a fast response: the least thinking that the model allows, and no search. */
export function quickOptions(provider: ProviderType): ModelOptions {
  return providerOf(provider).settings.quick;
}

/** Whether the model accepts attachments of this type. */
export function takesMediaType(provider: ProviderType, model: string, mediaType: string): boolean {
  return !apiOf(provider, model).refusedMediaTypes.includes(mediaType);
}

/** Whether `knowledgeSearch.semanticWeight` has an effect on agents of the provider. */
export function takesSemanticWeight(type: ProviderType): boolean {
  return providerOf(type).fixedSemanticWeight !== true;
}
