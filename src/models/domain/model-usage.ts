/**
 * Token counts of one model call, or of several; null where the provider did not say. Providers count differently; here
 * each total holds its parts, and every runtime makes it so:
 *
 * - `inputTokens`: all input, also what the provider had in its cache (`cachedInputTokens` is that part) or put there.
 * - `outputTokens`: all output, also what the model thought before and between (`thinkingTokens` is that part).
 *
 * A part that is absent or null is not told apart: its tokens count as ordinary ones of their total.
 */
export interface ModelUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedInputTokens?: number | null;
  readonly thinkingTokens?: number | null;
}

/** Before any call. */
export const NO_USAGE: ModelUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: null, thinkingTokens: null };

/** Of a call that told nothing. */
export const UNKNOWN_USAGE: ModelUsage = {
  inputTokens: null,
  outputTokens: null,
  cachedInputTokens: null,
  thinkingTokens: null,
};

/** Above what any call can use; sums of many such counts can still be stored. */
const MAX_PLAUSIBLE_TOKENS = 1e12;

/** Counts that no call can have (negative, fractional, not finite, too large) are taken as not told: null. */
export function plausibleUsage(usage: ModelUsage): ModelUsage {
  return {
    inputTokens: plausible(usage.inputTokens),
    outputTokens: plausible(usage.outputTokens),
    cachedInputTokens: plausible(usage.cachedInputTokens),
    thinkingTokens: plausible(usage.thinkingTokens),
  };
}

/** The sum; a total that one side does not know is unknown, a part is what is known of it. */
export function addUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  return {
    inputTokens: total(left.inputTokens, right.inputTokens),
    outputTokens: total(left.outputTokens, right.outputTokens),
    cachedInputTokens: part(left.cachedInputTokens ?? null, right.cachedInputTokens ?? null),
    thinkingTokens: part(left.thinkingTokens ?? null, right.thinkingTokens ?? null),
  };
}

/** As `addUsage`, where the totals are what is known of them too. */
export function addKnownUsage(left: ModelUsage, right: ModelUsage): ModelUsage {
  const { inputTokens, outputTokens } = right;
  return addUsage(left, { ...right, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 });
}

/** The providers' JSON is not checked before, so the count may be of any type. */
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
