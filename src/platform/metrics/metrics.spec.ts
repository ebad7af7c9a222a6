import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { readPrometheusText, sampleOf } from '../../../test/support/prometheus-text.js';
import {
  type Counter,
  type CounterDeclaration,
  type GaugeDeclaration,
  type HistogramDeclaration,
  Metrics,
  type Reading,
} from './metrics.js';

const TRIES: CounterDeclaration<'outcome' | 'way'> = {
  name: 'agent_service_tries_total',
  help: 'Tries.',
  labels: { outcome: ['ok', 'failed'], way: ['by_air', 'by_sea'] },
};
const DURATION: HistogramDeclaration<'way'> = {
  name: 'agent_service_try_seconds',
  help: 'How long tries took.',
  labels: { way: ['by_air', 'by_sea'] },
  buckets: [0.1, 1, 10],
};

const WAITING: GaugeDeclaration<'way'> = {
  name: 'agent_service_letters_waiting',
  help: 'Letters that wait.',
  labels: { way: ['by_air', 'by_sea'] },
};

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics(new Registry());
});

async function valueOf(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined> {
  return sampleOf(readPrometheusText(await metrics.text()), name, labels);
}

describe('a counter', () => {
  it('has every combination of its declared values from the start, and no other', async () => {
    metrics.counter(TRIES);
    const { samples } = readPrometheusText(await metrics.text()).get(TRIES.name) ?? {};
    expect(samples).toEqual(
      ['ok', 'failed'].flatMap((outcome) =>
        ['by_air', 'by_sea'].map((way) => ({ name: TRIES.name, labels: { outcome, way }, value: 0 })),
      ),
    );
  });

  it('may have no labels', async () => {
    const counter = metrics.counter({ name: 'agent_service_starts_total', help: 'Starts.', labels: {} });
    counter.increment({});
    counter.increment({}, 2);
    expect(await valueOf('agent_service_starts_total')).toBe(3);
  });

  it('counts a value that was not declared as other, in each label by itself', async () => {
    const counter = metrics.counter(TRIES);
    counter.increment({ outcome: 'unheard_of', way: 'by_air' });
    counter.increment({ outcome: 'ok', way: 'toString' });
    counter.increment({ outcome: 'other', way: undefined as unknown as string });
    expect(await valueOf(TRIES.name, { outcome: 'other', way: 'by_air' })).toBe(1);
    expect(await valueOf(TRIES.name, { outcome: 'ok', way: 'other' })).toBe(1);
    expect(await valueOf(TRIES.name, { outcome: 'other', way: 'other' })).toBe(1);
  });

  it.each([-1, NaN, Infinity])('leaves %d out rather than end whoever counts', async (by) => {
    const counter = metrics.counter(TRIES);
    counter.increment({ outcome: 'ok', way: 'by_air' }, by);
    expect(await valueOf(TRIES.name, { outcome: 'ok', way: 'by_air' })).toBe(0);
  });

  it('has labels of the declared names alone, which the compiler checks', () => {
    const counter: Counter<'outcome' | 'way'> = metrics.counter(TRIES);
    // @ts-expect-error -- a label that was not declared
    counter.increment({ outcome: 'ok', way: 'by_air', colour: 'red' });
    // @ts-expect-error -- a label too few
    counter.increment({ outcome: 'ok' });
    const inferred = metrics.counter({
      name: 'agent_service_inferred_total',
      help: 'As is.',
      labels: { outcome: ['ok'] },
    });
    // @ts-expect-error -- a misspelt label
    inferred.increment({ outcom: 'ok' });
    // @ts-expect-error -- a name that does not say whose it is
    metrics.counter({ name: 'tries_total', help: 'Tries.', labels: {} });
  });
});

describe('a histogram', () => {
  it('counts a duration in every bucket that holds it', async () => {
    const histogram = metrics.histogram(DURATION);
    for (const seconds of [0, 0.1, 0.5, 11]) histogram.observe({ way: 'by_air' }, seconds);
    const buckets = ['0.1', '1', '10', '+Inf'].map((le) => valueOf(`${DURATION.name}_bucket`, { le, way: 'by_air' }));
    expect(await Promise.all(buckets)).toEqual([2, 3, 3, 4]);
    expect(await valueOf(`${DURATION.name}_sum`, { way: 'by_air' })).toBeCloseTo(11.6);
  });

  it('leaves a duration out that is none', async () => {
    const histogram = metrics.histogram(DURATION);
    for (const seconds of [-1, NaN, Infinity]) histogram.observe({ way: 'by_air' }, seconds);
    expect(await valueOf(`${DURATION.name}_count`, { way: 'by_air' })).toBeUndefined();
  });

  it.each([[[]], [[0, 1]], [[1, 1]], [[2, 1]], [[1, Infinity]], [[NaN]]])('cannot have the buckets %j', (buckets) => {
    expect(() => metrics.histogram({ ...DURATION, buckets })).toThrow(/buckets of 'agent_service_try_seconds'/);
  });
});

describe('a gauge', () => {
  it('is read anew by everyone who asks, and forgets what is no longer told', async () => {
    let readings: Reading<'way'>[] = [{ labels: { way: 'by_air' }, value: 3 }];
    metrics.gauge(WAITING, () => Promise.resolve(readings));
    expect(await valueOf(WAITING.name, { way: 'by_air' })).toBe(3);
    readings = [{ labels: { way: 'by_sea' }, value: 1 }];
    expect(await valueOf(WAITING.name, { way: 'by_air' })).toBeUndefined();
    expect(await valueOf(WAITING.name, { way: 'by_sea' })).toBe(1);
  });

  it('is absent where it cannot be read, with and without labels, and takes nothing else with it', async () => {
    metrics.counter(TRIES);
    metrics.gauge(WAITING, () => Promise.reject(new Error('Out of reach')));
    metrics.gauge({ ...WAITING, name: 'agent_service_bare', labels: {} }, () => {
      throw new Error('Out of reach');
    });
    metrics.gauge({ ...WAITING, name: 'agent_service_odd', labels: {} }, () => [{ labels: {}, value: NaN }]);
    for (const name of [WAITING.name, 'agent_service_bare', 'agent_service_odd'])
      expect((await metrics.text()).split(`\n${name}`)).toHaveLength(1);
    expect(await valueOf(TRIES.name, { outcome: 'ok', way: 'by_air' })).toBe(0);
  });

  it('has no label that was not declared: it is other', async () => {
    metrics.gauge(WAITING, () => [{ labels: { way: 'unheard_of' }, value: 2 }]);
    expect(await valueOf(WAITING.name, { way: 'other' })).toBe(2);
    expect(await valueOf(WAITING.name, { way: 'unheard_of' })).toBeUndefined();
  });

  it('is declared once, under a name that is no counter, with few series', () => {
    metrics.gauge(WAITING, () => []);
    expect(() => {
      metrics.gauge(WAITING, () => []);
    }).toThrow(/declared twice/);
    expect(() => {
      metrics.gauge({ ...WAITING, name: 'agent_service_x_total' }, () => []);
    }).toThrow(/name of a counter/);
    const many = Array.from({ length: 3_000 }, (_none, index) => `value_${index}`);
    expect(() => {
      metrics.gauge({ ...WAITING, name: 'agent_service_many', labels: { way: many } }, () => []);
    }).toThrow(/3001 series/);
  });
});

describe('a metric that is declared again', () => {
  it('is the same one where it is declared alike', async () => {
    expect(metrics.counter({ ...TRIES, labels: { ...TRIES.labels } })).toBe(metrics.counter(TRIES));
    expect(metrics.histogram({ ...DURATION, buckets: [...DURATION.buckets] })).toBe(metrics.histogram(DURATION));
    expect(readPrometheusText(await metrics.text()).size).toBe(2);
  });

  it('has no start where it is not declared alike', () => {
    metrics.counter(TRIES);
    metrics.histogram(DURATION);
    const counters = [
      { help: 'Else.' },
      { labels: { outcome: ['ok'], way: ['by_air', 'by_sea'] } },
      { labels: { outcome: ['ok', 'failed'] } },
    ];
    for (const change of counters) {
      const other = { ...TRIES, ...change } as CounterDeclaration<string>;
      expect(() => metrics.counter(other)).toThrow(`'${TRIES.name}' is declared twice`);
    }
    expect(() => metrics.histogram({ ...DURATION, buckets: [1] })).toThrow(`'${DURATION.name}' is declared twice`);
  });
});

describe('what is declared', () => {
  it.each(['le', 'with space', '9'])('cannot have a label called %j in a histogram', (label) => {
    expect(() => metrics.histogram({ ...DURATION, labels: { [label]: ['x'] } })).toThrow(/label/);
  });

  it('cannot have more series than a few thousand', () => {
    const hundred = Array.from({ length: 100 }, (_none, index) => `value_${index}`);
    expect(() => metrics.counter({ ...TRIES, labels: { outcome: hundred, way: hundred } })).toThrow(/10201 series/);
    const declared = { ...DURATION, labels: { outcome: ['ok', 'failed', 'blocked'], way: hundred } };
    expect(() => metrics.histogram(declared)).toThrow(/2424 series/);
  });
});
