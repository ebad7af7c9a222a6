import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { BASE } from '../../../src/platform/database/index.js';
import { FileStore } from '../../../src/platform/files/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { embeddedOnly } from '../../support/modes.js';
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
  const parts = { database: 'ok', files: 'ok' };
  const redis = CLUSTER && { redis: 'ok' };
  const claudeAgentSdk = HAS_CLAUDE_AGENT_SDK ? 'installed' : 'not_installed';
  expect([status, body]).toEqual([
    200,
    { status: 'ok', checks: parts, knowledgeSearch: 'keywords', claudeAgentSdk, ...redis },
  ]);
});

it('names the failing part', async () => {
  jest.spyOn(service.app.get(FileStore), 'check').mockRejectedValue(new Error('canary'));
  const { status, body } = await service.http('GET', '/health/ready');
  expect(status).toBe(503);
  expect(body).toMatchObject({ status: 'unavailable', checks: { database: 'ok', files: 'cannot be stored' } });
});

it('is not ready when a deploy has migrated the database beyond what this build may use, and is again when it may', async () => {
  const { database } = service;
  const add = `insert into schema_migrations (name, release, oldest_build) values ('2999010100_later', '9.0.0', $1)`;
  await database.query(add, ['2998010100_earlier']);
  const { status, body } = await service.http<{ checks: { database: string } }>('GET', '/health/ready');
  expect(status).toBe(503);
  expect(body.checks.database).toMatch(
    /^The database is at 2999010100_later \(release 9\.0\.0\), and this build is at 20\d+_\w+ \(release 1\.0\.0\): builds without 2998010100_earlier may not use it\. Start the newer release$/,
  );
  await database.query(`delete from schema_migrations where name = '2999010100_later'`);
  await database.query(add, [BASE]);
  expect((await service.http('GET', '/health/ready')).status).toBe(200);
  await database.query(`delete from schema_migrations where name = '2999010100_later'`);
});

embeddedOnly('a database that takes no writes, such as a standby', () => {
  it('is not ready', async () => {
    // The connection is the only one, so its setting is that of the database.
    await service.database.query('set default_transaction_read_only = on');
    const { status, body } = await service.http('GET', '/health/ready');
    await service.database.query('set default_transaction_read_only = off');
    expect([status, body]).toEqual([
      503,
      expect.objectContaining({ checks: { database: 'is read-only', files: 'ok' } }),
    ]);
    expect((await service.http('GET', '/health/ready')).status).toBe(200);
  });
});
