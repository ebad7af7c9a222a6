import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  embeddedJobDatabase,
  handlerOf,
  type JobDatabase,
  JobSite,
  noteSchema,
  type ProcessOptions,
} from '../../../test/support/job-site.js';
import { defineJob, jobsSchema } from './index.js';

const echo = defineJob({ name: 'test.echo', payload: noteSchema });
const note = (): void => undefined;

describe('the start', () => {
  let on: JobDatabase;
  beforeAll(async () => {
    on = await embeddedJobDatabase([jobsSchema]);
  });
  afterAll(() => on.close());

  const refused: [string, ProcessOptions, RegExp][] = [
    ['without a handler', { jobs: [echo], handlers: [] }, /test\.echo has no handler/],
    [
      'with two handlers',
      { jobs: [echo], handlers: [handlerOf(echo, note), handlerOf(echo, note)] },
      /test\.echo has two handlers/,
    ],
    [
      'with the name of another',
      { jobs: [echo, { ...echo }], handlers: [handlerOf(echo, note)] },
      /Two jobs have the name test\.echo/,
    ],
    ['with a handler but no declaration', { jobs: [], handlers: [handlerOf(echo, note)] }, /no module declares/],
  ];
  it.each(refused)('fails on a job %s', async (_, options, message) => {
    const site = new JobSite(on);
    await expect(site.start({ ...options, role: 'api' })).rejects.toThrow(message);
  });
});
