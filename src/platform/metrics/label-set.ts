/** One value for each label of a metric. */
export type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** Every value that each label may have. */
export type LabelValues<Label extends string> = Readonly<Record<Label, readonly string[]>>;

/** Stands for every value that was not declared. */
export const OTHER = 'other';

/**
 * The labels of a metric with the values they were declared with. Each combination is a series that is kept for as long
 * as the process runs, so what callers send must never become one.
 */
export class LabelSet<Label extends string> {
  readonly names: readonly Label[];
  private readonly allowed: ReadonlyMap<Label, ReadonlySet<string>>;

  constructor(private readonly declared: LabelValues<Label>) {
    this.names = Object.keys(declared) as Label[];
    this.allowed = new Map(this.names.map((name) => [name, new Set([...declared[name], OTHER])]));
  }

  /** How many combinations there can be, those with `other` included. */
  get size(): number {
    return [...this.allowed.values()].reduce((product, values) => product * values.size, 1);
  }

  /** The same labels, where a value that was not declared is `other`. */
  bounded(labels: Labels<Label>): Record<Label, string> {
    const values = [...this.allowed].map(([name, values]) => [name, values.has(labels[name]) ? labels[name] : OTHER]);
    return Object.fromEntries(values) as Record<Label, string>;
  }

  /** All combinations of declared values. */
  combinations(): Labels<Label>[] {
    return this.names.reduce<Labels<Label>[]>(
      (found, name) => found.flatMap((labels) => this.declared[name].map((value) => ({ ...labels, [name]: value }))),
      [{} as Labels<Label>],
    );
  }
}
