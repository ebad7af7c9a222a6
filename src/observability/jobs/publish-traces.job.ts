import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { PublishTraces } from '../application/publish-traces.js';
import { PUBLISH_EVERY_MINUTES } from '../limits.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Publishes the traces of ended runs. The next run continues an interrupted one. */
export const publishTraces = defineJob({
  name: 'traces.publish',
  payload,
  schedule: { everyMinutes: PUBLISH_EVERY_MINUTES, payload: {} },
});

@Processor(publishTraces.name)
export class PublishTracesJob extends WorkerHost {
  constructor(private readonly traces: PublishTraces) {
    super();
  }

  async process({ signal }: ActiveJob<Payload>): Promise<void> {
    await this.traces.execute(signal);
  }
}
