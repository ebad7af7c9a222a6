import type { CatalogueModel } from '../domain/catalogue-model.js';
import {
  MODEL_PROVIDERS,
  type ModelOptions,
  type ModelProvider,
  PROVIDERS,
  type ProviderType,
  type RequestableType,
} from './index.js';
import type { KnownProvider } from './shared/provider.js';

const RUNNABLE: ReadonlyMap<string, ModelProvider> = new Map(MODEL_PROVIDERS.map((each) => [each.type, each]));
const KNOWN: ReadonlyMap<string, KnownProvider> = new Map(PROVIDERS.map((each) => [each.type, each]));

/** What there is to know of a provider that agents run on. */
export function providerOf(type: ProviderType): ModelProvider {
  return found(RUNNABLE, type);
}

/** The same of one that may have no runtime here. */
export function knownProvider(type: RequestableType): KnownProvider {
  return found(KNOWN, type);
}

/** Whether agents can run on what a request names. */
export function isRunnable<Named extends { readonly type: RequestableType }>(
  named: Named,
): named is Extract<Named, { readonly type: ProviderType }> {
  return RUNNABLE.has(named.type);
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

/** Whether the provider's models take this image, PDF or text. */
export function takesMediaType(provider: ProviderType, mediaType: string): boolean {
  return !providerOf(provider).refusedMediaTypes.includes(mediaType);
}

/** Whether `knowledgeSearch.semanticWeight` means something to agents of the provider. */
export function takesSemanticWeight(type: ProviderType): boolean {
  return providerOf(type).fixedSemanticWeight !== true;
}

function found<Descriptor>(providers: ReadonlyMap<string, Descriptor>, type: string): Descriptor {
  const provider = providers.get(type);
  if (provider === undefined) throw new Error(`Unknown provider: ${type}`);
  return provider;
}
