import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { readPrometheusText, sampleOf } from '../../../test/support/prometheus-text.js';
import { Metrics } from './metrics.js';

const ATTEMPTS = {
  name: 'agent_service_attempts_total',
  help: 'Attempts.',
  labels: { outcome: ['ok', 'failed'], way: ['air', 'sea'] },
} as const;
const DURATION = {
  name: 'agent_service_attempt_seconds',
  help: 'Duration of attempts.',
  labels: { way: ['air', 'sea'] },
  buckets: [0.1, 1, 10],
} as const;
const WAITING = {
  name: 'agent_service_letters_waiting',
  help: 'Letters that wait.',
  labels: { way: ['air', 'sea'] },
} as const;

let metrics: Metrics;
beforeEach(() => {
  metrics = new Metrics(new Registry());
});

async function valueOf(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined> {
  return sampleOf(readPrometheusText(await metrics.registry.metrics()), name, labels);
}

describe('a counter', () => {
  it('has every combination of its declared values from the start, and no other', async () => {
    metrics.counter(ATTEMPTS);
    const { samples } = readPrometheusText(await metrics.registry.metrics()).get(ATTEMPTS.name) ?? {};
    expect(samples).toEqual(
      ['ok', 'failed'].flatMap((outcome) =>
        ['air', 'sea'].map((way) => ({ name: ATTEMPTS.name, labels: { outcome, way }, value: 0 })),
      ),
    );
  });

  it('may have no labels', async () => {
    const counter = metrics.counter({ name: 'agent_service_starts_total', help: 'Starts.', labels: {} });
    counter.inc();
    counter.inc(2);
    counter.inc({}, 3);
    expect(await valueOf('agent_service_starts_total')).toBe(6);
  });

  it('counts an undeclared value as other, in each label separately', async () => {
    const counter = metrics.counter(ATTEMPTS);
    counter.inc({ outcome: 'undeclared', way: 'air' });
    counter.labels('ok', 'toString').inc();
    counter.inc({ outcome: 'other' });
    expect(await valueOf(ATTEMPTS.name, { outcome: 'other', way: 'air' })).toBe(1);
    expect(await valueOf(ATTEMPTS.name, { outcome: 'ok', way: 'other' })).toBe(1);
    expect(await valueOf(ATTEMPTS.name, { outcome: 'other', way: 'other' })).toBe(1);
  });

  it.each([-1, NaN, Infinity])('ignores an amount of %d instead of throwing', async (amount) => {
    const counter = metrics.counter(ATTEMPTS);
    counter.inc({ outcome: 'ok', way: 'air' }, amount);
    expect(await valueOf(ATTEMPTS.name, { outcome: 'ok', way: 'air' })).toBe(0);
  });

  it('takes no other labels than the declared ones, which the compiler checks', () => {
    const counter = metrics.counter(ATTEMPTS);
    // @ts-expect-error -- an undeclared label
    counter.inc({ outcome: 'ok', way: 'air', colour: 'red' });
    expect(() => metrics.counter(ATTEMPTS)).toThrow('already been registered');
  });
});

describe('a histogram', () => {
  it('counts a duration in every bucket that holds it', async () => {
    const histogram = metrics.histogram(DURATION);
    for (const seconds of [0, 0.1, 0.5, 11]) histogram.observe({ way: 'air' }, seconds);
    const buckets = ['0.1', '1', '10', '+Inf'].map((le) => valueOf(`${DURATION.name}_bucket`, { le, way: 'air' }));
    expect(await Promise.all(buckets)).toEqual([2, 3, 3, 4]);
    expect(await valueOf(`${DURATION.name}_sum`, { way: 'air' })).toBeCloseTo(11.6);
  });

  it('ignores negative and infinite durations', async () => {
    const histogram = metrics.histogram(DURATION);
    for (const seconds of [-1, NaN, Infinity]) histogram.observe({ way: 'air' }, seconds);
    expect(await valueOf(`${DURATION.name}_count`, { way: 'air' })).toBeUndefined();
  });

  it('counts an undeclared value as other', async () => {
    metrics.histogram(DURATION).observe({ way: 'undeclared' }, 1);
    expect(await valueOf(`${DURATION.name}_count`, { way: 'other' })).toBe(1);
  });
});

describe('a gauge', () => {
  it('is read by each request, and lacks the combinations without a value', async () => {
    const waiting: { air?: number; sea?: number } = { air: 3 };
    metrics.gauge(WAITING, ({ way }) => Promise.resolve(waiting[way]));
    expect(await valueOf(WAITING.name, { way: 'air' })).toBe(3);
    delete waiting.air;
    waiting.sea = 1;
    expect(await valueOf(WAITING.name, { way: 'air' })).toBeUndefined();
    expect(await valueOf(WAITING.name, { way: 'sea' })).toBe(1);
  });

  it('is absent if it cannot be read, with and without labels; all other metrics are present', async () => {
    metrics.counter(ATTEMPTS);
    metrics.gauge(WAITING, () => Promise.reject(new Error('Unreachable')));
    metrics.gauge({ ...WAITING, name: 'agent_service_throws', labels: {} }, () => {
      throw new Error('Unreachable');
    });
    metrics.gauge({ ...WAITING, name: 'agent_service_not_a_number', labels: {} }, () => NaN);
    for (const name of [WAITING.name, 'agent_service_throws', 'agent_service_not_a_number'])
      expect((await metrics.registry.metrics()).split(`\n${name}`)).toHaveLength(1);
    expect(await valueOf(ATTEMPTS.name, { outcome: 'ok', way: 'air' })).toBe(0);
  });
});
