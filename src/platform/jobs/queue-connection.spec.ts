import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CuttableProxy } from '../../../test/support/cuttable-proxy.js';
import { handlerOf, type JobDatabase, JobSite, noteSchema, serverJobDatabase } from '../../../test/support/job-site.js';
import { clusterOnly } from '../../../test/support/modes.js';
import { REDIS_URL } from '../../../test/support/test-redis.js';
import { until } from '../../../test/support/until.js';
import { defineJob, jobsSchema, Outbox } from './index.js';

const echo = defineJob({ name: 'test.echo', payload: noteSchema });

clusterOnly('the connection of the job queue', () => {
  let on: JobDatabase;
  let site: JobSite;
  let network: CuttableProxy;

  beforeAll(async () => {
    on = await serverJobDatabase([jobsSchema], process.env['DATABASE_URL'] ?? '', REDIS_URL);
    site = new JobSite(on);
    const { hostname, port } = new URL(REDIS_URL);
    network = await CuttableProxy.start({ host: hostname, port: Number(port || 6379) });
  });
  afterAll(async () => {
    await site.stopAll();
    await network.close();
    await on.close();
  });

  it('is replaced when its host has vanished, and jobs go on', async () => {
    const ran: string[] = [];
    const handlers = [handlerOf(echo, ({ note }) => void ran.push(note))];
    const redisUrl = `redis://127.0.0.1:${network.port}${new URL(REDIS_URL).pathname}`;
    const process = await site.start({ jobs: [echo], handlers, redisUrl });
    const enqueue = (note: string): Promise<void> =>
      site.database.transaction((transaction) => process.get(Outbox).enqueue(transaction, echo, { note }));
    await enqueue('before');
    await until(() => ran.length === 1, 'the first job has run');
    network.vanish();
    await enqueue('after');
    await site.clock.advance(5_000);
    await until(() => ran.length === 2, 'the second job has run');
    expect(ran).toEqual(['before', 'after']);
  });
});
