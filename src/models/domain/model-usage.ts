/**
 * Token counts of one or more model calls; null if the provider did not report them. Providers count differently; every runtime
 * converts to these:
 *
 * - `inputTokens`: all input, including what the provider read from its cache (`cachedInputTokens`) or wrote to it.
 * - `outputTokens`: all output, including thinking (`thinkingTokens`).
 *
 * If a part is absent or null, all tokens of the total are charged as ordinary ones.
 */
export interface ModelUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens?: number | null;
  readonly thinkingTokens?: number | null;
}

/** Before any call. */
export const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: null, thinkingTokens: null };

/** Of a call whose provider has reported no counts. */
export const UNKNOWN_USAGE: ModelUsage = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  thinkingTokens: null,
};

/** More than any call can use, and few enough that sums of them can be stored. */
const MAX_PLAUSIBLE_TOKENS = 1e12;

/** Replaces counts that no call can have (negative, fractional, not finite, too large) by null. */
export function plausibleUsage(usage: ModelUsage): ModelUsage {
  return {
    inputTokens: plausible(usage.inputTokens),
    outputTokens: plausible(usage.outputTokens),
    cachedInputTokens: plausible(usage.cachedInputTokens),
    thinkingTokens: plausible(usage.thinkingTokens),
  };
}

/** The sum. A total is unknown if either side is unknown; a part is the sum of what is known. */
export function addUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  return {
    inputTokens: total(left.inputTokens, right.inputTokens),
    outputTokens: total(left.outputTokens, right.outputTokens),
    cachedInputTokens: part(left.cachedInputTokens ?? null, right.cachedInputTokens ?? null),
    thinkingTokens: part(left.thinkingTokens ?? null, right.thinkingTokens ?? null),
  };
}

/** As `addUsage`, but an unknown total on the right counts as zero. */
export function addKnownUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  const { inputTokens, outputTokens } = right;
  return addUsage(left, { ...right, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
}

/** @param count of any type: the JSON of the provider has not been checked */
function plausible(count: number | null | undefined): number | null {
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_PLAUSIBLE_TOKENS
    ? count
    : null;
}

function total(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right;
}

function part(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : left + right;
}
