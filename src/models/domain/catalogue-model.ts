import type { ModelUsage } from './model-usage.js';

/** What a million tokens of each kind cost on the managed key, in credits. */
export interface CreditRate {
  readonly inputPerMillion: number;
  readonly cachedInputPerMillion: number;
  readonly outputPerMillion: number;
  readonly thinkingPerMillion: number;
}

export interface CatalogueModel {
  readonly id: string;
  /** The vendor's family of models, whichever provider runs them. */
  readonly family: string;
  /** The model thinks whatever the agent's `thinking` setting says. */
  readonly alwaysThinks: boolean;
  /** How the API of the model takes a thinking setting. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** The API's value for "no thinking up front"; not used where `alwaysThinks`. */
  readonly withoutThinking: 'disabled' | 'between_tools';
  /** Whether requests include the agent's `temperature`. Providers refuse it for other models, or have no such setting. */
  readonly takesTemperature: boolean;
  /** The model is not available on the operator's managed key. */
  readonly ownKeyOnly: boolean;
  readonly credits: CreditRate;
  /** The context window in tokens, as the provider publishes it. */
  readonly contextTokens: number;
  /** Most characters of history in a request: at four a token, about three quarters of the context window. */
  readonly historyCharacters: number;
  /** The model of agents that are created without one. Each provider has exactly one. */
  readonly isDefault: boolean;
}

export const USUAL_MODEL = {
  alwaysThinks: false,
  thinking: 'none',
  withoutThinking: 'disabled',
  takesTemperature: false,
  ownKeyOnly: false,
  isDefault: false,
} as const;

/** The ids in a union type of an SDK, without its `(string & {})`. */
export type PublishedId<Union extends string> = Union extends unknown ? (string extends Union ? never : Union) : never;

/** Output costs five times as much as input on every tier, thinking as much as output, and cached input a tenth of the input. */
export function rate(inputPerMillion: number): CreditRate {
  const outputPerMillion = inputPerMillion * 5;
  return {
    inputPerMillion,
    cachedInputPerMillion: inputPerMillion / 10,
    outputPerMillion,
    thinkingPerMillion: outputPerMillion,
  };
}

/** One credit is about one US cent of the provider's list price; top is five times mid. */
export const TIER = { top: rate(1000), high: rate(400), mid: rate(200), small: rate(75), mini: rate(10) } as const;

/** In credits with four decimals. Tokens that the provider did not report cost nothing. */
export function creditsFor({ credits: rates }: CatalogueModel, usage: ModelUsage): number {
  const input = cost(usage.inputTokens, rates.inputPerMillion, usage.cachedInputTokens, rates.cachedInputPerMillion);
  const output = cost(usage.outputTokens, rates.outputPerMillion, usage.thinkingTokens, rates.thinkingPerMillion);
  return Math.round((input + output) / 100) / 10_000;
}

/** The cost of a total of which a part has another rate, in millionths of a credit. */
function cost(total: number | null, rate: number, part: number | null | undefined, partRate: number): number {
  // A provider may report a part that is larger than the total.
  const counted = Math.min(part ?? 0, total ?? 0);
  return ((total ?? 0) - counted) * rate + counted * partRate;
}
