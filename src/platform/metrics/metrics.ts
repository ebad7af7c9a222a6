import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * All values of each label; `{}` for a metric without labels. They are constants of the program, never ids and never what a
 * caller sends: each combination is a series that stays until the process ends.
 */
type LabelValues<Label extends string> = Readonly<Record<Label, readonly string[]>>;

interface MetricOptions<Labels> {
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

export const OTHER = 'other';

/** Registers the metrics of one service for `GET /metrics`. Each method throws, and the start fails, if the name is taken. */
@Injectable()
export class Metrics {
  constructor(readonly registry: Registry) {}

  /**
   * `inc` never throws: it replaces undeclared label values by `other` and ignores negative and infinite amounts. Every
   * combination starts at 0, because `rate` sees no increase in a series that begins with its first failure.
   */
  counter<Label extends string>({ labels, ...options }: MetricOptions<LabelValues<Label>>): Counter<Label> {
    const counter = new Counter({ ...options, labelNames: namesOf(labels), registers: [this.registry] });
    for (const combination of combinationsOf(labels)) counter.inc(combination, 0);
    counter.inc = guarded(labels, counter.inc.bind(counter));
    return counter;
  }

  /**
   * @param options.buckets their upper bounds in seconds, ascending
   * @returns a histogram whose `observe` never throws, as `inc` of a counter
   */
  histogram<Label extends string>({
    labels,
    buckets,
    ...options
  }: MetricOptions<LabelValues<Label>> & { readonly buckets: readonly number[] }): Histogram<Label> {
    const registered = { labelNames: namesOf(labels), registers: [this.registry] };
    const histogram = new Histogram({ ...options, ...registered, buckets: [...buckets] });
    histogram.observe = guarded(labels, histogram.observe.bind(histogram));
    return histogram;
  }

  /**
   * A gauge that each request for the metrics reads, which anyone may send at any time: `read` must be cheap or cached, and
   * its wait must have a limit. If it throws, the gauge is absent from the response and all other metrics are present.
   * @param read the value for one combination of labels; undefined if there is none
   */
  gauge<const Labels extends LabelValues<string>>(
    { labels, ...options }: MetricOptions<Labels>,
    read: (labels: { readonly [Label in keyof Labels]: Labels[Label][number] }) => Reading | Promise<Reading>,
  ): void {
    const combinations = combinationsOf(labels) as Parameters<typeof read>[0][];
    const gauge: Gauge = new Gauge({
      ...options,
      labelNames: namesOf(labels),
      registers: [this.registry],
      collect: async () => {
        const reading = combinations.map(async (combination) => [combination, await read(combination)] as const);
        const readings = await Promise.all(reading).catch(() => []);
        gauge.reset();
        // A reset sets a gauge without labels to 0.
        if (namesOf(labels).length === 0) gauge.remove();
        for (const [combination, value] of readings) {
          if (value !== undefined && Number.isFinite(value)) gauge.set(combination, value);
        }
      },
    });
  }
}

type Reading = number | undefined;

function namesOf<Label extends string>(labels: LabelValues<Label>): Label[] {
  return Object.keys(labels) as Label[];
}

function combinationsOf<Label extends string>(labels: LabelValues<Label>): Record<Label, string>[] {
  return namesOf(labels).reduce(
    (found, name) => found.flatMap((rest) => labels[name].map((value) => ({ ...rest, [name]: value }))),
    [{} as Record<Label, string>],
  );
}

/**
 * Makes a method of prom-client's safe to call with anything.
 * @param record the method, which throws for negative and infinite amounts
 */
function guarded<Label extends string>(
  labels: LabelValues<Label>,
  record: (labels: Record<Label, string>, amount: number) => void,
): (labelsOrAmount?: object | number, amount?: number) => void {
  const declared = namesOf(labels).map((name) => [name, new Set<unknown>(labels[name])] as const);
  return (first, second) => {
    const [given, amount = 1] = typeof first === 'object' ? [first as Record<string, unknown>, second] : [{}, first];
    if (!Number.isFinite(amount) || amount < 0) return;
    const values = declared.map(([name, values]) => [name, values.has(given[name]) ? given[name] : OTHER]);
    record(Object.fromEntries(values) as Record<Label, string>, amount);
  };
}
