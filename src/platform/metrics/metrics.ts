import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Counter as ClientCounter, Gauge as ClientGauge, Histogram as ClientHistogram, Registry } from 'prom-client';
import { type Labels, LabelSet, type LabelValues } from './label-set.js';

/** Lines that one metric may add to the answer of `/metrics`. */
const MAX_SERIES = 2_000;
/** A histogram's lines beside its buckets: the one for everything, the sum and the count. */
const LINES_BESIDE_BUCKETS = 3;

interface Declaration<Name extends string, Label extends string> {
  readonly name: Name;
  /** What is counted or measured, in one sentence. */
  readonly help: string;
  /**
   * Every value that each label may have, `{}` for no labels. They are chosen when the code is written: never an id,
   * never what a caller sends. Any other value is counted under `other`.
   */
  readonly labels: LabelValues<Label>;
}

export type CounterDeclaration<Label extends string> = Declaration<`agent_service_${string}_total`, Label>;

export interface HistogramDeclaration<Label extends string> extends Declaration<
  `agent_service_${string}_seconds`,
  Label
> {
  /** Upper bounds in seconds, ascending. */
  readonly buckets: readonly number[];
}

export type GaugeDeclaration<Label extends string> = Declaration<`agent_service_${string}`, Label>;

/** What a gauge stands at, for one combination of its labels. */
export interface Reading<Label extends string> {
  readonly labels: Labels<Label>;
  readonly value: number;
}

/** How often something has happened since the process started. */
export interface Counter<Label extends string> {
  /** Never throws; a `by` that is negative or not finite is left out. */
  increment(labels: Labels<Label>, by?: number): void;
}

/** How long something took, since the process started. */
export interface Histogram<Label extends string> {
  /** Never throws; a duration that is negative or not finite is left out. */
  observe(labels: Labels<Label>, seconds: number): void;
}

interface Made {
  readonly declaration: object;
  readonly metric: object;
}

/**
 * What one service counts and measures, for `GET /metrics`. Metrics are declared where the service is put together, in a
 * constructor: a declaration that cannot be is a start that fails.
 */
@Injectable()
export class Metrics {
  private readonly made = new Map<string, Made>();

  constructor(private readonly registry: Registry) {}

  /**
   * Each combination of declared values is there from the start, with 0: `rate` sees no increase in a series that
   * begins with its first failure.
   * @returns the same counter for the same declaration
   * @throws Error when the name is taken by another metric, or the labels allow too many combinations
   */
  counter<Label extends string>(declaration: CounterDeclaration<Label>): Counter<Label> {
    return this.once<Counter<Label>>(declaration, () => {
      const { name, help } = declaration;
      const labels = new LabelSet(declaration.labels);
      requireFew(name, labels.size);
      const counter = new ClientCounter({ name, help, labelNames: labels.names, registers: [this.registry] });
      for (const combination of labels.combinations()) counter.inc(combination, 0);
      return {
        increment: (values, by = 1) => {
          if (isAmount(by)) counter.inc(labels.bounded(values), by);
        },
      };
    });
  }

  /**
   * @returns the same histogram for the same declaration
   * @throws Error when the name is taken by another metric, the labels allow too many combinations, or the buckets do not ascend
   */
  histogram<Label extends string>(declaration: HistogramDeclaration<Label>): Histogram<Label> {
    return this.once<Histogram<Label>>(declaration, () => {
      const { name, help } = declaration;
      const labels = new LabelSet(declaration.labels);
      const buckets = [...declaration.buckets];
      requireAscending(name, buckets);
      requireFew(name, labels.size * (buckets.length + LINES_BESIDE_BUCKETS));
      const histogram = new ClientHistogram({
        name,
        help,
        buckets,
        labelNames: labels.names,
        registers: [this.registry],
      });
      return {
        observe: (values, seconds) => {
          if (isAmount(seconds)) histogram.observe(labels.bounded(values), seconds);
        },
      };
    });
  }

  /**
   * What goes up and down is read when somebody asks for the metrics, which anybody may do at any time: `read` must be
   * cheap, or remember what it has read, and must not wait without a limit. A combination of labels that it does not
   * tell is absent, as are all of them where it throws: nothing else of the answer is lost. Of several readings for one
   * combination the last one counts.
   * @throws Error when the name is taken, the name is a counter's, or the labels allow too many combinations
   */
  gauge<Label extends string>(
    declaration: GaugeDeclaration<Label>,
    read: () => readonly Reading<Label>[] | Promise<readonly Reading<Label>[]>,
  ): void {
    const { name, help } = declaration;
    if (this.made.has(name)) throw new Error(`The metric '${name}' is declared twice`);
    if (name.endsWith('_total')) throw new Error(`'${name}' is the name of a counter`);
    const labels = new LabelSet(declaration.labels);
    requireFew(name, labels.size);
    const collect = async (): Promise<void> => {
      const readings = await readingsOf(read);
      gauge.reset();
      // The client resets a gauge without labels to 0, which would be told where nothing is known.
      if (labels.names.length === 0) gauge.remove();
      for (const reading of readings) gauge.set(labels.bounded(reading.labels), reading.value);
    };
    const gauge: ClientGauge = new ClientGauge({
      name,
      help,
      labelNames: labels.names,
      registers: [this.registry],
      collect,
    });
    this.made.set(name, { declaration: structuredClone(declaration), metric: gauge });
  }

  /** Everything as it stands, in the format that `contentType` names. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Names tell the kinds apart, so that what is declared alike is of one type. */
  private once<Metric extends object>(declaration: { readonly name: string }, make: () => Metric): Metric {
    const known = this.made.get(declaration.name);
    if (known) {
      if (isDeepStrictEqual(known.declaration, declaration)) return known.metric as Metric;
      throw new Error(`The metric '${declaration.name}' is declared twice, and not alike`);
    }
    const metric = make();
    // A copy: what was declared stays known, whatever becomes of the caller's object.
    this.made.set(declaration.name, { declaration: structuredClone(declaration), metric });
    return metric;
  }
}

/** Those that are numbers, none where they cannot be read. */
async function readingsOf<Label extends string>(
  read: () => readonly Reading<Label>[] | Promise<readonly Reading<Label>[]>,
): Promise<readonly Reading<Label>[]> {
  try {
    return (await read()).filter(({ value }) => Number.isFinite(value));
  } catch {
    return [];
  }
}

/** Counting must not fail the caller; prom-client would throw. */
function isAmount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function requireFew(name: string, series: number): void {
  if (series > MAX_SERIES)
    throw new Error(`The metric '${name}' could have ${series} series; at most ${MAX_SERIES} are allowed`);
}

function requireAscending(name: string, buckets: readonly number[]): void {
  const ascends = buckets.every((bound, index) => Number.isFinite(bound) && bound > (buckets[index - 1] ?? 0));
  if (buckets.length === 0 || !ascends) throw new Error(`The buckets of '${name}' must be positive and ascend`);
}
