import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { operatorKernel } from '../../../test/support/operator-kernel.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../ids/index.js';
import { runCommand } from '../command-line/index.js';
import { jobsSchema } from './index.js';
import { jobCommands } from './jobs-commands.js';
import { LISTED } from './limits.js';

interface Job {
  readonly id: string;
  readonly state: string;
}

const clock = new ManualClock();
let open: TestDatabase;

beforeAll(async () => {
  open = await openTestDatabase([jobsSchema]);
});
beforeEach(() => open.database.query('delete from outbox'));
afterAll(() => open.close());

const run = async (line: string): Promise<{ readonly jobs: readonly Job[] }> => {
  return (await runCommand(jobCommands, operatorKernel(open, clock), line.split(' '))) as { jobs: Job[] };
};
const idsOf = async (line: string): Promise<string[]> => (await run(line)).jobs.map(({ id }) => id);

/** Inserts a row that died or was created `ageSeconds` ago. */
async function row(state: string, ageSeconds: number, name = 'test.job'): Promise<string> {
  const id = newId();
  const at = new Date(clock.now().getTime() - ageSeconds * 1000).toISOString();
  await open.database.query(
    `insert into outbox (id, name, payload, state, attempts, created_at, available_at, started_at, died_at, last_error)
     values ($1, $2, '{}', $3, 5, $4::timestamptz - interval '1 hour', $4::timestamptz, $4::timestamptz,
             case when $3 = 'dead' then $4::timestamptz end, 'Broken')`,
    [id, name, state, at],
  );
  return id;
}

describe('jobs list', () => {
  it('lists failed jobs or all others, newest first, and filters by name', async () => {
    const [older, newer] = [await row('dead', 20), await row('dead', 10)];
    const other = await row('dead', 30, 'test.other');
    const waiting = [await row('pending', 1), await row('dispatched', 2)];
    expect(await idsOf('jobs list --failed')).toEqual([newer, older, other]);
    expect(await idsOf('jobs list --failed --name test.other')).toEqual([other]);
    expect((await run('jobs list --name test.other --failed')).jobs).toEqual([
      {
        id: other,
        name: 'test.other',
        state: 'dead',
        attempts: 5,
        lastError: 'Broken',
        createdAt: '2025-12-31T22:59:30.000Z',
        diedAt: '2025-12-31T23:59:30.000Z',
      },
    ]);
    expect(await idsOf('jobs list')).toEqual(waiting);
    expect((await run('jobs list')).jobs).toMatchObject([{ state: 'pending', diedAt: null }, { state: 'dispatched' }]);
  });

  it('lists only the newest jobs if there are many', async () => {
    for (let age = LISTED + 5; age > 0; age -= 1) await row('dead', age);
    const newest = await row('dead', 0);
    const listed = await idsOf('jobs list --failed');
    expect([listed.length, listed[0]]).toEqual([LISTED, newest]);
  });
});

describe('jobs retry', () => {
  it('makes a failed job wait again, with all its attempts', async () => {
    const id = await row('dead', 10);
    expect(await run(`jobs retry ${id.toUpperCase()}`)).toEqual({ id, state: 'pending' });
    const rows = await open.database.query(
      'select state, attempts, died_at, available_at <= $1::timestamptz as due from outbox',
      [clock.now().toISOString()],
    );
    expect(rows).toEqual([{ state: 'pending', attempts: 0, died_at: null, due: true }]);
  });

  it.each(['pending', 'dispatched'])('refuses a job that is %s, and does not change it', async (state) => {
    const id = await row(state, 10);
    await expect(run(`jobs retry ${id}`)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('has not failed'),
    });
    expect(await open.database.query('select state, attempts from outbox')).toEqual([{ state, attempts: 5 }]);
  });

  it('explains an unknown id, an invalid id and wrong usage', async () => {
    const unknown = newId();
    await expect(run(`jobs retry ${unknown}`)).rejects.toMatchObject({
      kind: 'not_found',
      message: expect.stringContaining(unknown),
    });
    await expect(run('jobs retry seven')).rejects.toThrow("'seven' is not an id");
    await expect(run('jobs retry')).rejects.toThrow('usage: jobs retry <id>');
    await expect(run('jobs list --dead')).rejects.toThrow('usage: jobs list [--failed] [--name <job>]');
  });
});
