import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Counter, type Histogram, Metrics } from '../../../src/platform/metrics/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { type MetricFamily, readPrometheusText, sampleOf } from '../../support/prometheus-text.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const LETTERS = 'agent_service_test_letters_total';
const JOURNEY = 'agent_service_test_journey_seconds';

let service: TestService;
let letters: Counter<'outcome' | 'way'>;
let journeys: Histogram<'way'>;
beforeAll(async () => {
  service = await startService();
  letters = lettersOf(service);
  journeys = journeysOf(service);
});
afterAll(() => service.close());

function lettersOf({ app }: TestService): Counter<'outcome' | 'way'> {
  const labels = { outcome: ['delivered', 'lost'], way: ['air', 'sea'] } as const;
  return app.get(Metrics).counter({ name: LETTERS, help: 'Letters by outcome.', labels });
}

function journeysOf({ app }: TestService): Histogram<'way'> {
  const labels = { way: ['air', 'sea'] } as const;
  return app.get(Metrics).histogram({ name: JOURNEY, help: 'Journeys of letters.', labels, buckets: [0.5, 1, 5] });
}

async function metricsOf(asked: TestService): Promise<ReadonlyMap<string, MetricFamily>> {
  const { status, text } = await asked.http('GET', '/metrics');
  expect(status).toBe(200);
  return readPrometheusText(text);
}

describe('GET /metrics', () => {
  it('responds in the format of Prometheus with any credential and without one', async () => {
    const { key } = await service.organization();
    for (const options of [{}, { key }, { key: 'sk-nobody' }]) {
      const { status, headers, text } = await service.http('GET', '/metrics', options);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(readPrometheusText(text).size).toBeGreaterThan(5);
    }
  });

  it('includes the metrics of the process', async () => {
    const metrics = await metricsOf(service);
    const [started = 0, memory = 0, total = 0, used = 0] = [
      'process_start_time_seconds',
      'process_resident_memory_bytes',
      'nodejs_heap_size_total_bytes',
      'nodejs_heap_size_used_bytes',
    ].map((name) => sampleOf(metrics, name));
    expect(Math.abs(started - performance.timeOrigin / 1e3)).toBeLessThan(1);
    expect(memory).toBeGreaterThan(used);
    expect(total).toBeGreaterThan(0);
    expect(sampleOf(metrics, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sampleOf(metrics, 'nodejs_eventloop_lag_max_seconds')).toBeGreaterThanOrEqual(
      sampleOf(metrics, 'nodejs_eventloop_lag_p99_seconds') ?? Infinity,
    );
    expect(metrics.get('nodejs_gc_duration_seconds')?.type).toBe('histogram');
  });

  it('responds to other methods like every route', async () => {
    const head = await service.http('HEAD', '/metrics');
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([
      200,
      '',
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const { status, body } = await service.http(method, '/metrics');
      expect([status, body]).toEqual([
        404,
        { statusCode: 404, error: 'not_found', message: `There is no route ${method} /metrics.` },
      ]);
    }
  });
});

describe('a metric of the service', () => {
  it('includes combinations of labels that have not occurred, with 0', async () => {
    letters.inc({ outcome: 'lost', way: 'sea' });
    letters.inc({ outcome: 'lost', way: 'sea' }, 2);
    const metrics = await metricsOf(service);
    expect(metrics.get(LETTERS)).toMatchObject({ type: 'counter', help: 'Letters by outcome.' });
    expect(sampleOf(metrics, LETTERS, { outcome: 'lost', way: 'sea' })).toBe(3);
    expect(sampleOf(metrics, LETTERS, { outcome: 'delivered', way: 'air' })).toBe(0);
  });

  it('has durations in seconds', async () => {
    for (const seconds of [0.4, 0.5, 3, 60]) journeys.observe({ way: 'air' }, seconds);
    const metrics = await metricsOf(service);
    const buckets = ['0.5', '1', '5', '+Inf'].map((le) => sampleOf(metrics, `${JOURNEY}_bucket`, { le, way: 'air' }));
    expect(buckets).toEqual([2, 2, 3, 4]);
    expect(sampleOf(metrics, `${JOURNEY}_sum`, { way: 'air' })).toBeCloseTo(63.9);
  });

  it('counts an undeclared label value as other', async () => {
    const { id } = await service.organization();
    const invented = [id, '', 'LOST', '__proto__', 'constructor', 'lost"} 1\nagent_service_false_total{outcome="x'];
    for (const outcome of invented) letters.inc({ outcome, way: 'air' });
    for (const way of invented) journeys.observe({ way }, 1);
    const metrics = await metricsOf(service);
    expect(sampleOf(metrics, LETTERS, { outcome: 'other', way: 'air' })).toBe(invented.length);
    expect(sampleOf(metrics, `${JOURNEY}_count`, { way: 'other' })).toBe(invented.length);
    const values = metrics.get(LETTERS)?.samples.flatMap(({ labels }) => Object.values(labels));
    expect(new Set(values)).toEqual(new Set(['delivered', 'lost', 'other', 'air', 'sea']));
  });

  it('is not shared with another service in the process', async () => {
    const other = await startService();
    lettersOf(other).inc({ outcome: 'delivered', way: 'sea' }, 7);
    expect(sampleOf(await metricsOf(other), LETTERS, { outcome: 'delivered', way: 'sea' })).toBe(7);
    expect(sampleOf(await metricsOf(service), LETTERS, { outcome: 'delivered', way: 'sea' }) ?? 0).toBe(0);
    await other.close();
    expect((await metricsOf(service)).size).toBeGreaterThan(5);
  });

  it('contains nothing of organizations, agents, conversations and credentials', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('A canary sings.'));
    await talk.run('Does the canary sing?');
    const { text } = await service.http('GET', '/metrics', {
      key: talk.key,
      headers: { 'x-request-id': 'canary-request' },
    });
    for (const word of [talk.key, talk.agentId, talk.threadId, 'canary']) expect(text).not.toContain(word);
    const values = [...readPrometheusText(text).values()].flatMap(({ samples }) =>
      samples.flatMap(({ labels }) => Object.values(labels)),
    );
    for (const value of values)
      expect(value).toMatch(/^(?:[A-Za-z_]{1,32}|[1-5]xx|[a-z]+[.-][a-z-]+|[\d.]{1,10}|\+Inf)$/);
  });
});
