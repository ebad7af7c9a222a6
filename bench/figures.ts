/** The percentile for a share from 0 to 1: the nearest measured value. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Rounds to a number of decimals. */
export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** The median of the rounds, with the lowest and the highest. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return {
    median: round(median(values), 3),
    lowest: round(Math.min(...values), 3),
    highest: round(Math.max(...values), 3),
  };
}
