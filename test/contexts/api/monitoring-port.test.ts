import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FileStore } from '../../../src/platform/files/index.js';
import { MonitoringServer } from '../../../src/platform/http/index.js';
import { ShutdownState } from '../../../src/platform/lifecycle/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { readPrometheusText, sampleOf } from '../../support/prometheus-text.js';

let service: TestService;
let port: string;

beforeAll(async () => {
  service = await startService({ environment: { METRICS_PORT: '0' } });
  port = (await service.app.get(MonitoringServer).listen()) ?? '';
});
afterAll(async () => {
  await service.close();
  await expect(fetch(`${port}/health/live`)).rejects.toThrow();
});

async function ask(path: string, method = 'GET') {
  const response = await fetch(port + path, { method });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

describe('the port of monitoring', () => {
  it('serves the metrics, which customers then cannot read', async () => {
    const { status, type, text } = await ask('/metrics');
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(sampleOf(readPrometheusText(text), 'agent_service_jobs_up')).toBe(1);
    const { key } = await service.organization();
    expect(await service.http('GET', '/metrics', { key })).toMatchObject({
      status: 404,
      body: { statusCode: 404, error: 'not_found' },
    });
    expect((await service.http('GET', '/v1/openapi.json')).body).not.toHaveProperty(['paths', '/metrics']);
  });

  it('serves the health that customers may also read', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const { status, text } = await ask(path);
      expect([status, JSON.parse(text)]).toEqual([200, (await service.http('GET', path)).body]);
    }
    jest.spyOn(service.app.get(FileStore), 'check').mockRejectedValueOnce(new Error('canary'));
    const { status, text } = await ask('/health/ready');
    expect([status, JSON.parse(text)]).toMatchObject([503, { checks: { files: 'cannot be stored' } }]);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/v1/agents'],
    ['POST', '/metrics'],
  ])('serves nothing else: %s %s', async (method, path) => {
    expect((await ask(path, method)).status).toBe(404);
  });

  it('says until its end that the process stops', async () => {
    service.app.get(ShutdownState).begin();
    const { status, text } = await ask('/health/ready?probe=1');
    expect([status, JSON.parse(text)]).toMatchObject([503, { checks: { process: 'stopping' } }]);
  });
});
