// The built service, which publishes traces on request, and so begins to push them. Its workers count each other as dead within seconds.
import { BullModule } from '@nestjs/bullmq';
import { Worker } from 'bullmq';
import { built, startExtended } from './extended-service.mjs';

await built('platform/jobs/index.js');
const { PublishTraces } = await built('observability/jobs/publish-traces.job.js');

BullModule.workerClass = class extends Worker {
  constructor(name, processor, options) {
    super(name, processor, {
      ...options,
      lockDuration: 3_000,
      stalledInterval: 500,
      maxStalledCount: 1_000,
      drainDelay: 1,
    });
  }
};

const app = await startExtended({});

process.on('message', async () => {
  const publishing = app.get(PublishTraces);
  // For it alone it is later: what has ended just now is due.
  publishing.clock = { now: () => new Date(Date.now() + 10 * 60_000) };
  process.send(await publishing.execute(new AbortController().signal));
});
