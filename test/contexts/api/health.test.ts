import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { FileStore } from '../../../src/platform/files/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { HAS_CLAUDE_AGENT_SDK } from '../../support/provider-wire.js';

const CLUSTER = process.env['TEST_MODE'] === 'cluster';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => service.close());

it('reports each part of the service', async () => {
  const { status, body } = await service.http('GET', '/health/ready');
  const parts = { database: 'ok', files: 'ok', ...(CLUSTER && { redis: 'ok', jobs: 'ok' }) };
  const claudeAgentSdk = HAS_CLAUDE_AGENT_SDK ? 'installed' : 'not_installed';
  expect([status, body]).toEqual([200, { status: 'ok', checks: parts, knowledgeSearch: 'keywords', claudeAgentSdk }]);
});

it('names the failing part', async () => {
  jest.spyOn(service.app.get(FileStore), 'check').mockRejectedValue(new Error('canary'));
  const { status, body } = await service.http('GET', '/health/ready');
  expect(status).toBe(503);
  expect(body).toMatchObject({ status: 'unavailable', checks: { database: 'ok', files: 'cannot be stored' } });
});
