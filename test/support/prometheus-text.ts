/** One line of a metric: its name with a histogram's suffix. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

const LABEL = String.raw`([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"`;
const SAMPLE = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)(?:\{(${LABEL}(?:,${LABEL})*)\})? (\S+)$`);
const HEAD = /^# HELP (\S+) (\S.*)\n# TYPE (\S+) (counter|gauge|histogram)$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)$/;

/**
 * Reads the Prometheus text format, version 0.0.4, more strictly than Prometheus itself.
 * @returns the metrics by name
 * @throws Error for an invalid line, a metric that is split or has no head, a repeated series, a counter with a wrong name, or a
 * histogram whose counts do not add up
 */
export function readPrometheusText(text: string): ReadonlyMap<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end');
  const families = new Map<string, MetricFamily>();
  for (const block of text.trimEnd().split(/\n+(?=# HELP )/)) {
    const family = readFamily(block);
    if (families.has(family.name)) throw new Error(`${family.name} is repeated`);
    families.set(family.name, family);
  }
  return families;
}

function readFamily(block: string): MetricFamily {
  const lines = block.split('\n');
  const [, name = '', help = '', named, type] = HEAD.exec(lines.slice(0, 2).join('\n')) ?? [];
  if (name === '' || name !== named) throw new Error(`No head of a metric: ${block.slice(0, 200)}`);
  const family = { name, help, type: type as MetricFamily['type'], samples: lines.slice(2).map(readSample) };
  requireOwnNames(family);
  requireUnlike(family);
  if (family.type === 'histogram') requireAddingUp(family);
  return family;
}

function readSample(line: string): Sample {
  const [, name = '', labels = '', ...rest] = SAMPLE.exec(line) ?? [];
  const value = rest.at(-1);
  if (value === undefined || !NUMBER.test(value)) throw new Error(`No line of a metric: ${line}`);
  const pairs = [...labels.matchAll(new RegExp(LABEL, 'g'))].map(
    ([, label = '', text = '']) => [label, unescaped(text)] as const,
  );
  if (new Set(pairs.map(([label]) => label)).size !== pairs.length) throw new Error(`A label is repeated: ${line}`);
  return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character));
}

function requireOwnNames({ name, type, samples }: MetricFamily): void {
  const own = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
  const other = samples.find((sample) => !own.includes(sample.name));
  if (other) throw new Error(`The sample ${other.name} is listed under ${name}`);
  if ((type === 'counter') !== name.endsWith('_total')) throw new Error(`${name} is a ${type}`);
}

function requireUnlike({ name, samples }: MetricFamily): void {
  const series = samples.map((sample) => seriesOf(sample.name, sample.labels));
  if (new Set(series).size !== series.length) throw new Error(`A series of ${name} is repeated`);
}

function requireAddingUp({ name, samples }: MetricFamily): void {
  const counts = new Map(
    samples
      .filter((sample) => sample.name === `${name}_count`)
      .map(({ labels, value }) => [seriesOf('', labels), value]),
  );
  const last = new Map<string, { readonly bound: number; readonly value: number }>();
  for (const { labels, value } of samples.filter((sample) => sample.name === `${name}_bucket`)) {
    const { le = '', ...others } = labels;
    const series = seriesOf('', others);
    const bound = Number(le.replace('+Inf', 'Infinity'));
    const before = last.get(series) ?? { bound: -Infinity, value: 0 };
    if (!(bound > before.bound) || value < before.value) throw new Error(`The buckets of ${name} do not ascend`);
    last.set(series, { bound, value });
  }
  const ends = [...last].map(([series, { bound, value }]) => bound === Infinity && counts.get(series) === value);
  if (ends.length !== counts.size || ends.includes(false))
    throw new Error(`The buckets of ${name} do not hold its count`);
}

function seriesOf(name: string, labels: Sample['labels']): string {
  return JSON.stringify([name, Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))]);
}

/** The value of one series; undefined where there is none. Labels have to be all of its labels. */
export function sampleOf(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Sample['labels'] = {},
): number | undefined {
  const samples = [...families.values()].flatMap((family) => family.samples);
  return samples.find((sample) => seriesOf(sample.name, sample.labels) === seriesOf(name, labels))?.value;
}
