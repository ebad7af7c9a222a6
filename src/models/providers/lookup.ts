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

/** What there is to know of a provider. */
export function providerOf(type: ProviderType): AgentProvider {
  const provider = BY_TYPE.get(type);
  if (provider === undefined) throw new Error(`Unknown provider: ${type}`);
  return provider;
}

/**
 * The provider whose API runs the model: the agent's own, or of one without an API that which has the model, the first one for a
 * model that no catalogue has any more.
 */
export function apiOf(type: ProviderType, model: string): ModelProvider {
  const api =
    API_BY_TYPE.get(type) ?? MODEL_PROVIDERS.find(({ models }) => models.some(({ id }) => id === model)) ?? FIRST_API;
  if (api === undefined) throw new Error('No provider has an API');
  return api;
}

/** The request as the API takes it that runs its model. */
export function requestTo(api: ModelProvider, request: ModelRequest): ModelRequest {
  const { options } = request;
  if (options.type === api.type) return request;
  const isQuick = 'quick' in options && options.quick === true;
  return { ...request, options: isQuick ? api.settings.quick : api.settings.initial };
}

/** The type of the provider that a key belongs to by its first letters; undefined where they tell nothing. */
export function keyOwner(apiKey: string): ProviderType | undefined {
  const prefixes = MODEL_PROVIDERS.flatMap(({ type, keyPrefixes }) => keyPrefixes.map((prefix) => ({ type, prefix })));
  // The longest first: one provider's begins with another's.
  return prefixes
    .toSorted((left, right) => right.prefix.length - left.prefix.length)
    .find(({ prefix }) => apiKey.startsWith(prefix))?.type;
}

/** The models of one provider, strongest first: the order in which a refusal lists them. */
export function modelsOf(provider: ProviderType): readonly CatalogueModel[] {
  return providerOf(provider).models;
}

/** The catalogue's entry, or undefined when the provider has no model of that id. */
export function findModel(provider: ProviderType, id: string): CatalogueModel | undefined {
  return modelsOf(provider).find((model) => model.id === id);
}

/** The model of an agent whose creator named none. */
export function defaultModel(provider: ProviderType): CatalogueModel {
  const model = modelsOf(provider).find((candidate) => candidate.isDefault);
  if (model === undefined) throw new Error(`the catalogue has no default model for ${provider}`);
  return model;
}

/** Settings for an answer that must come fast: no more thinking than the model cannot do without, and no search. */
export function quickOptions(provider: ProviderType): ModelOptions {
  return providerOf(provider).settings.quick;
}

/** Whether the model takes this image, PDF or text. */
export function takesMediaType(provider: ProviderType, model: string, mediaType: string): boolean {
  return !apiOf(provider, model).refusedMediaTypes.includes(mediaType);
}

/** Whether `knowledgeSearch.semanticWeight` means something to agents of the provider. */
export function takesSemanticWeight(type: ProviderType): boolean {
  return providerOf(type).fixedSemanticWeight !== true;
}
