import type { ModelUsage } from './model-runtime.js';

/** Credits that a million tokens cost on the managed key. */
export interface CreditRate {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

/** One model that agents can run on. */
export interface CatalogueModel {
  readonly id: string;
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
  readonly credits: CreditRate;
  /**
   * Characters of earlier conversation that the model is given: about three quarters of its context at four
   * characters a token.
   */
  readonly historyCharacters: number;
  /** The model of an agent whose creator named none. Exactly one a provider. */
  readonly isDefault: boolean;
}

/** The members of a union of ids that an SDK publishes, without its `(string & {})`. */
export type PublishedId<Union extends string> = Union extends unknown ? (string extends Union ? never : Union) : never;

/** Output costs five times the input on every tier. */
export function rate(inputPerMillion: number): CreditRate {
  return { inputPerMillion, outputPerMillion: inputPerMillion * 5 };
}

/** One credit stands for about a US cent of the provider's list price; top is five times mid. */
export const TIER = { top: rate(1000), high: rate(400), mid: rate(200), small: rate(75), mini: rate(10) } as const;

/**
 * What one call costs on the managed key, in credits, to four decimals. Tokens that the provider did
 * not report cost nothing; calls on an own key cost nothing, which is the caller's to decide.
 */
export function creditsFor(model: CatalogueModel, usage: ModelUsage): number {
  const input = (usage.inputTokens ?? 0) * model.credits.inputPerMillion;
  const output = (usage.outputTokens ?? 0) * model.credits.outputPerMillion;
  return Math.round((input + output) / 100) / 10_000;
}
