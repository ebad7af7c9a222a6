import { expect, it } from '@jest/globals';
import { openTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../ids/index.js';
import { jobsSchema } from './index.js';

it('keeps the jobs of a database of the former release, including those in the queue', async () => {
  const [first, ...later] = jobsSchema.migrations;
  const open = await openTestDatabase([{ entities: [], migrations: [first!] }]);
  const { database } = open;
  for (const state of ['pending', 'handed_over', 'dead']) {
    await database.query(
      `insert into outbox (id, name, payload, state, created_at, available_at) values ($1, 'test.job', '{}', $2, now(), now())`,
      [newId(), state],
    );
  }
  for (const statement of later.flatMap(({ statements }) => statements)) await database.query(statement);
  expect(await database.query('select state from outbox order by id')).toEqual([
    { state: 'pending' },
    { state: 'dispatched' },
    { state: 'dead' },
  ]);
  await expect(database.query(`update outbox set state = 'handed_over'`)).rejects.toThrow();
  await open.close();
});
