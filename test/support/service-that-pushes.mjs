// The built service, which publishes traces as soon as it is asked to, and so begins to push them.
import { built, startExtended } from './extended-service.mjs';

const { PublishTraces } = await built('observability/application/publish-traces.js');

const app = await startExtended({});

process.on('message', async () => {
  const publishing = app.get(PublishTraces);
  // For it alone it is later: what has ended just now is due.
  publishing.clock = { now: () => new Date(Date.now() + 10 * 60_000) };
  process.send(await publishing.execute(new AbortController().signal));
});
