import type { ModelUsage } from './model-usage.js';

/** Credits that a million tokens cost on the managed key, by what they are. */
export interface CreditRate {
  readonly inputPerMillion: number;
  readonly cachedInputPerMillion: number;
  readonly outputPerMillion: number;
  readonly thinkingPerMillion: number;
}

/** One model that agents can run on. */
export interface CatalogueModel {
  readonly id: string;
  /** The vendor's family of models, independent of the provider that runs the model. */
  readonly family: string;
  /** Runs thinking whatever the agent's `thinking` setting says. */
  readonly alwaysThinks: boolean;
  /** How the model takes a thinking setting. */
  readonly thinking: 'adaptive' | 'budget' | 'none';
  /** What the provider calls "no thinking up front"; of no effect where `alwaysThinks`. */
  readonly withoutThinking: 'disabled' | 'between_tools';
  /** Whether requests have the agent's `temperature`. Providers refuse it on the other models, or their agents have no such setting. */
  readonly takesTemperature: boolean;
  /** Not available on the operator's managed key. */
  readonly ownKeyOnly: boolean;
  readonly credits: CreditRate;
  /** The context window in tokens, as the provider publishes it. */
  readonly contextTokens: number;
  /** Characters of earlier conversation that the model gets, at four to a token: at most about three quarters of its context window. */
  readonly historyCharacters: number;
  /** The model of an agent whose creator named none. Exactly one a provider. */
  readonly isDefault: boolean;
}

/** The members of a union of ids that an SDK publishes, without its `(string & {})`. */
export type PublishedId<Union extends string> = Union extends unknown ? (string extends Union ? never : Union) : never;

/**
 * Output costs five times the input on every tier. All three providers take a tenth of the input's price for what they
 * have in their cache, and none prices thinking apart from other output.
 */
export function rate(inputPerMillion: number): CreditRate {
  const outputPerMillion = inputPerMillion * 5;
  return {
    inputPerMillion,
    cachedInputPerMillion: inputPerMillion / 10,
    outputPerMillion,
    thinkingPerMillion: outputPerMillion,
  };
}

/** One credit stands for about a US cent of the provider's list price; top is five times mid. */
export const TIER = { top: rate(1000), high: rate(400), mid: rate(200), small: rate(75), mini: rate(10) } as const;

/**
 * What calls cost on the managed key, in credits, to four decimals. Tokens that the provider did
 * not report cost nothing; calls on an own key cost nothing, which is the caller's to decide.
 */
export function creditsFor({ credits: rates }: CatalogueModel, usage: ModelUsage): number {
  const input = cost(usage.inputTokens, rates.inputPerMillion, usage.cachedInputTokens, rates.cachedInputPerMillion);
  const output = cost(usage.outputTokens, rates.outputPerMillion, usage.thinkingTokens, rates.thinkingPerMillion);
  return Math.round((input + output) / 100) / 10_000;
}

/** Of a total and of a part of it that has a rate of its own, in millionths of a credit. */
function cost(total: number | null, rate: number, part: number | null | undefined, partRate: number): number {
  // A provider that reports more of a part than of the whole must not make the rest negative.
  const apart = Math.min(part ?? 0, total ?? 0);
  return ((total ?? 0) - apart) * rate + apart * partRate;
}
