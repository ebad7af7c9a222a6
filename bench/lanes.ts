import { median, percentile, round } from './figures.ts';
import { table } from './table.ts';

/** A kind of run that alternates with others, and the lane to compare it with: the same run without the measured feature. */
export interface ComparedLane<Name extends string> {
  readonly name: Name;
  readonly over: Name | null;
}

export interface ComparedFigures<Name extends string> {
  readonly lane: Name;
  readonly runs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Median over the rounds of the difference to the other lane, run by run, and the difference of the 95th percentiles. */
  readonly added: { readonly lane: Name; readonly p50Ms: number; readonly p95Ms: number } | null;
}

/** @param latencies milliseconds by lane and round */
export function compareLanes<Name extends string>(
  lanes: readonly ComparedLane<Name>[],
  latencies: readonly (readonly number[])[],
): ComparedFigures<Name>[] {
  return lanes.map(({ name: lane, over }, index) => {
    const mine = latencies[index] ?? [];
    const theirs = latencies[lanes.findIndex(({ name }) => name === over)] ?? [];
    const p95 = percentile(mine, 0.95);
    return {
      ...{ lane, runs: mine.length, p50Ms: round(median(mine), 2), p95Ms: round(p95, 2) },
      added:
        over === null
          ? null
          : {
              lane: over,
              p50Ms: round(median(mine.map((ms, run) => ms - (theirs[run] ?? Number.NaN))), 2),
              p95Ms: round(p95 - percentile(theirs, 0.95), 2),
            },
    };
  });
}

export function comparisonTable<Name extends string>(
  titles: Readonly<Record<Name, string>>,
  figures: readonly ComparedFigures<Name>[],
): string {
  return table(
    ['Run, one at a time', 'Runs', 'p50 ms', 'p95 ms', 'Added to', 'p50 ms', 'p95 ms'],
    figures.map(({ lane, runs, p50Ms, p95Ms, added }) => [
      titles[lane],
      runs,
      p50Ms.toFixed(2),
      p95Ms.toFixed(2),
      added ? titles[added.lane] : '',
      added ? added.p50Ms.toFixed(2) : '',
      added ? added.p95Ms.toFixed(2) : '',
    ]),
  );
}
