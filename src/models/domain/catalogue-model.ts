import type { ProviderType } from './provider-type.js';

/** One model that agents can run on. */
export interface CatalogueModel {
  readonly provider: ProviderType;
  readonly id: string;
  readonly family: 'claude' | 'openai' | 'gemini';
  /** Runs thinking whatever the agent's `thinking` setting says. */
  readonly alwaysThinks: boolean;
  /** How the model takes a thinking setting. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** What the provider calls "no thinking up front"; of no effect where `alwaysThinks`. */
  readonly withoutThinking: 'disabled' | 'between_tools';
  /** The provider refuses a request that sets a temperature on the other models. */
  readonly takesTemperature: boolean;
  /** Not available on the operator's managed key. */
  readonly ownKeyOnly: boolean;
  /** Credits a million tokens cost on the managed key. */
  readonly credits: { readonly inputPerMillion: number; readonly outputPerMillion: number };
  /** The model of an agent whose creator named none. Exactly one a provider. */
  readonly isDefault: boolean;
}
