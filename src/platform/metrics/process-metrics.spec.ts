import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { readPrometheusText, sampleOf } from '../../../test/support/prometheus-text.js';
import { until } from '../../../test/support/until.js';
import { ProcessMetrics } from './process-metrics.js';

const MAX_LAG = 'nodejs_eventloop_lag_max_seconds';
const BLOCKED_MS = 1_000;
const MOST_OF_IT = 0.8;
const GC_COUNT = 'nodejs_gc_duration_seconds_count';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const started: ProcessMetrics[] = [];
afterEach(() => {
  for (const metrics of started.splice(0)) metrics.onApplicationShutdown();
});

/** The metrics of one service, and a function that reads them. */
function begin(): {
  metrics: ProcessMetrics;
  clock: ManualClock;
  read: (name: string, labels?: Record<string, string>) => Promise<number>;
} {
  const [registry, clock] = [new Registry(), new ManualClock()];
  const metrics = new ProcessMetrics(registry, clock);
  metrics.onApplicationBootstrap();
  started.push(metrics);
  const read = async (name: string, labels?: Record<string, string>): Promise<number> =>
    sampleOf(readPrometheusText(await registry.metrics()), name, labels) ?? 0;
  return { metrics, clock, read };
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function majorCollections(read: ReturnType<typeof begin>['read']): Promise<number> {
  return read(GC_COUNT, { kind: 'major' });
}

describe('the delay of the event loop', () => {
  it('shows what delayed the loop within the last minute, however often it is read', async () => {
    const { clock, read } = begin();
    // The first measurement needs two timer events.
    await until(async () => (await read(MAX_LAG)) > 0, 'the loop is watched');
    block(BLOCKED_MS);
    await until(async () => (await read(MAX_LAG)) > MOST_OF_IT, 'the delay is seen');
    for (let reads = 0; reads < 20; reads += 1) expect(await read(MAX_LAG)).toBeGreaterThan(MOST_OF_IT);
    await clock.advance(60_000);
    expect(await read(MAX_LAG)).toBeGreaterThan(MOST_OF_IT);
    await clock.advance(59_999);
    expect(await read(MAX_LAG)).toBeGreaterThan(MOST_OF_IT);
    await clock.advance(1);
    expect(await read(MAX_LAG)).toBeLessThan(MOST_OF_IT);
  });
});

describe('garbage collections', () => {
  it('are counted by kind', async () => {
    const { read } = begin();
    collectGarbage();
    await until(async () => (await majorCollections(read)) > 0, 'a collection is counted');
    expect(await read('nodejs_gc_duration_seconds_sum', { kind: 'major' })).toBeGreaterThan(0);
  });

  it('are no longer observed for a closed service', async () => {
    const [closed, open] = [begin(), begin()];
    closed.metrics.onApplicationShutdown();
    const before = await majorCollections(closed.read);
    collectGarbage();
    await until(async () => (await majorCollections(open.read)) > 0, 'the other service counts');
    expect(await majorCollections(closed.read)).toBe(before);
  });
});

it('does not keep the process alive, even if the service was never closed', () => {
  const program = `
    const { Registry } = await import('prom-client');
    const { ProcessMetrics } = await import(${JSON.stringify(resolve('dist/platform/metrics/process-metrics.js'))});
    const { SystemClock } = await import(${JSON.stringify(resolve('dist/platform/clock/index.js'))});
    new ProcessMetrics(new Registry(), new SystemClock()).onApplicationBootstrap();
    console.log('begun');
  `;
  const options = { encoding: 'utf8', timeout: 20_000 } as const;
  expect(
    execFileSync(process.execPath, ['--import', 'reflect-metadata', '--input-type=module', '-e', program], options),
  ).toBe('begun\n');
});
