import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { UnrecoverableError } from 'bullmq';
import { RemoveAgentData, removeAgentData } from '../../../src/agents/jobs/remove-agent-data.job.js';
import { newId } from '../../../src/platform/ids/index.js';
import { Outbox } from '../../../src/platform/jobs/index.js';
import { startService, type TestService, until } from '../../support/harness.js';

interface Listed {
  readonly jobs: readonly Readonly<Record<string, unknown>>[];
}

describe('a job whose last attempt has failed', () => {
  const agent = { organizationId: newId(), agentId: newId() };
  const working = jest.spyOn(RemoveAgentData.prototype, 'process');
  let service: TestService;

  beforeAll(async () => {
    service = await startService();
  });
  afterEach(() => working.mockRestore());
  afterAll(() => service.close());

  const failed = async (): Promise<Listed['jobs']> =>
    (await service.cli<Listed>('jobs', 'list', '--failed', '--name', removeAgentData.name)).jobs;

  it('is listed with its last error, and can be retried by the operator', async () => {
    const seen: unknown[] = [];
    const from = new Date().toISOString();
    working.mockImplementation(({ data, attemptsMade }) => {
      if (data.agent === null) return Promise.resolve();
      seen.push([data.agent, attemptsMade]);
      return seen.length > 1 ? Promise.resolve() : Promise.reject(new UnrecoverableError('The store is full'));
    });
    await service.database.transaction((transaction) =>
      service.app.get(Outbox).enqueue(transaction, removeAgentData, { agent }),
    );
    await until(async () => (await failed()).length === 1, 'the job has failed');

    const [dead] = await failed();
    expect(dead).toEqual({
      id: expect.any(String),
      name: removeAgentData.name,
      state: 'dead',
      attempts: 1,
      lastError: expect.stringContaining('The store is full'),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      diedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    });
    expect([from, dead?.['createdAt'], dead?.['diedAt']].map(String)).toEqual(
      [from, dead?.['createdAt'], dead?.['diedAt']].map(String).sort(),
    );

    const id = String(dead?.['id']);
    expect(await service.cli('jobs', 'retry', id)).toEqual({ id, state: 'pending' });
    await until(() => Promise.resolve(seen.length === 2), 'the job runs again');
    // Earlier attempts do not count.
    expect(seen).toEqual([
      [agent, 0],
      [agent, 0],
    ]);
    await until(
      async () => (await service.database.query('select id from outbox where id = $1', [id])).length === 0,
      'it is done',
    );
    expect(await failed()).toEqual([]);
    await expect(service.cli('jobs', 'retry', id)).rejects.toThrow(`There is no job ${id}`);
  });
});
