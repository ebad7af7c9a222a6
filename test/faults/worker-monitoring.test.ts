import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PRESENT_MS } from '../../src/platform/jobs/limits.js';
import { newId } from '../../src/platform/ids/index.js';
import { startService, type TestService, until } from '../support/harness.js';
import { ManualClock } from '../support/manual-clock.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { readPrometheusText, sampleOf } from '../support/prometheus-text.js';
import { ServiceProcess } from '../support/service-process.js';

const WORKERS = 'agent_service_job_workers';
const MONITORING = /"monitoring":"(http:[^"]+)"/;

async function sampled(url: string, name: string, labels?: Record<string, string>): Promise<number | undefined> {
  return sampleOf(readPrometheusText(await (await fetch(`${url}/metrics`)).text()), name, labels);
}

it('counts a worker that died for as long as it might still report', async () => {
  const clock = new ManualClock();
  const service: TestService = await startService({ clock });
  const workers = () => sampled(service.baseUrl, WORKERS);
  try {
    await until(async () => (await clock.advance(5_000), await workers()) === 1, 'this process has reported');
    const seenAt = clock.now();
    await service.database.query('insert into job_workers (id, seen_at) values ($1, $2)', [newId(), seenAt]);
    await clock.advance(5_000);
    expect(await workers()).toBe(2);
    await until(async () => {
      await clock.advance(PRESENT_MS / 10);
      return (await workers()) === 1;
    }, 'the dead worker no longer counts');
    expect(clock.now().getTime() - seenAt.getTime()).toBeGreaterThan(PRESENT_MS);
  } finally {
    await service.close();
  }
});

clusterOnly('a worker with METRICS_PORT', () => {
  let environment: ModeEnvironment;
  const started: ServiceProcess[] = [];

  beforeAll(async () => {
    environment = await modeEnvironment();
  });
  afterAll(async () => {
    await Promise.all(started.map((process) => process.kill()));
    await environment.close();
  });

  function spawn(role: 'api' | 'worker'): ServiceProcess {
    const process = ServiceProcess.spawn({
      role,
      environment: { ...environment.variables, LOG_LEVEL: 'info', METRICS_PORT: '0' },
    });
    started.push(process);
    return process;
  }

  async function monitoringOf(process: ServiceProcess): Promise<string> {
    await until(() => MONITORING.test(process.written), 'the process says where it is monitored');
    return MONITORING.exec(process.written)?.[1] ?? '';
  }

  it('serves metrics and health, and an API process tells that there is no worker once it has stopped', async () => {
    const worker = spawn('worker');
    const url = await monitoringOf(worker);
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ status: 'ok' });
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { database: 'ok', files: 'ok' } }]);
    expect(await sampled(url, 'agent_service_ready', { part: 'database' })).toBe(1);
    const api = await monitoringOf(spawn('api'));
    await until(async () => (await sampled(api, WORKERS)) === 1, 'the worker counts');
    worker.signal('SIGTERM');
    expect(await worker.ended()).toBe(0);
    await until(async () => (await sampled(api, WORKERS)) === 0, 'it no longer counts');
  });
});
