import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  embeddedJobDatabase,
  handlerOf,
  type JobDatabase,
  JobSite,
  noteSchema,
  until,
} from '../../../test/support/job-site.js';
import { defineJob, jobsSchema, Outbox } from './index.js';

const echo = defineJob({ name: 'test.echo', payload: noteSchema, retry: { attempts: 3, backoffSeconds: 0.02 } });

let on: JobDatabase;
let site: JobSite;

beforeAll(async () => {
  on = await embeddedJobDatabase([jobsSchema]);
  site = new JobSite(on);
});
afterEach(() => site.stopAll());
afterAll(() => on.close());

it('logs each failed attempt with job, id, attempt and error, without secrets', async () => {
  const fail = (): never => {
    throw new Error('The provider refused sk-canary-abcdef');
  };
  const process = await site.start({ jobs: [echo], handlers: [handlerOf(echo, fail)] });
  await site.database.transaction((transaction) =>
    process.get(Outbox).enqueue(transaction, echo, { note: 'hopeless' }),
  );
  const rows = () => site.database.query<{ state: string }>('select state, last_error from outbox');
  await until(async () => (await rows())[0]?.state === 'dead');

  const failure = (attempt: number, level: string, msg: string) => ({
    level,
    msg,
    job: echo.name,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    attempt,
    err: { type: 'Error', message: 'The provider refused [redacted]', stack: expect.stringContaining('[redacted]') },
  });
  const logged = site.log.map((line) => JSON.parse(line) as object).filter((line) => 'job' in line);
  expect(logged).toMatchObject([
    failure(1, 'warn', 'A job failed and will be retried'),
    failure(2, 'warn', 'A job failed and will be retried'),
    failure(3, 'error', 'A job failed for the last time'),
  ]);
  expect(site.log.join() + JSON.stringify(await rows())).not.toContain('canary');
});
