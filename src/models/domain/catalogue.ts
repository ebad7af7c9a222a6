import type { CatalogueModel } from './catalogue-model.js';
import { CATALOGUE_MODELS } from './catalogue.models.js';
import type { ModelUsage } from './model-runtime.js';
import type { ProviderType } from './provider-type.js';

export type { CatalogueModel } from './catalogue-model.js';

/** The models of one provider, strongest first: the order in which a refusal lists them. */
export function modelsOf(provider: ProviderType): readonly CatalogueModel[] {
  return CATALOGUE_MODELS.filter((model) => model.provider === provider);
}

/** The catalogue's entry, or undefined when the provider has no model of that id. */
export function findModel(provider: ProviderType, id: string): CatalogueModel | undefined {
  return CATALOGUE_MODELS.find((model) => model.provider === provider && model.id === id);
}

/** The model of an agent whose creator named none. */
export function defaultModel(provider: ProviderType): CatalogueModel {
  const model = CATALOGUE_MODELS.find((candidate) => candidate.provider === provider && candidate.isDefault);
  if (model === undefined) throw new Error(`the catalogue has no default model for ${provider}`);
  return model;
}

/**
 * What one call costs on the managed key, in credits, to four decimals. Tokens that the provider did
 * not report cost nothing; calls on an own key cost nothing, which is the caller's to decide.
 */
export function creditsFor(model: CatalogueModel, usage: ModelUsage): number {
  const input = (usage.inputTokens ?? 0) * model.credits.inputPerMillion;
  const output = (usage.outputTokens ?? 0) * model.credits.outputPerMillion;
  return Math.round((input + output) / 100) / 10_000;
}
