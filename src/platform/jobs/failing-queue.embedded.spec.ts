import { afterEach, expect, it } from '@jest/globals';
import {
  embeddedJobDatabase,
  handlerOf,
  type JobDatabase,
  JobSite,
  noteSchema,
} from '../../../test/support/job-site.js';
import { until } from '../../../test/support/until.js';
import { defineJob, jobsSchema, Outbox } from './index.js';

const echo = defineJob({ name: 'test.echo', payload: noteSchema });

let on: JobDatabase;
let site: JobSite;
afterEach(async () => {
  await site.stopAll();
  await on.close();
});

it('a queue whose jobs cannot be taken, as on a full disk, is asked again only after a pause', async () => {
  on = await embeddedJobDatabase([jobsSchema]);
  site = new JobSite(on);
  const ran: string[] = [];
  const handlers = [handlerOf(echo, ({ note }) => void ran.push(note))];
  const process = await site.start({ jobs: [echo], handlers });
  await site.database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = 'disk_full'; end $$`,
  );
  await site.database.query(
    `create trigger refuse before update on bullmq.job for each row when (new.state = 'active') execute function refuse()`,
  );
  await site.database.transaction((transaction) => process.get(Outbox).enqueue(transaction, echo, { note: 'late' }));
  const times: number[] = [];
  const failures = (): number => site.log.filter((line) => line.includes('The job queue reported an error')).length;
  await until(() => {
    while (failures() > times.length) times.push(performance.now());
    return times.length >= 2;
  }, 'the queue has failed twice');
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_000);
  await site.database.query('drop trigger refuse on bullmq.job');
  await until(() => ran.length === 1, 'the job runs');
  expect(ran).toEqual(['late']);
});
