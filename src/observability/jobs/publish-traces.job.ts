import { z } from 'zod';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { PublishTraces } from '../application/publish-traces.js';
import { PUBLISH_EVERY_MINUTES } from '../limits.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Makes finished traces part of exports and of what is counted. What one run leaves, because it was stopped, the next one takes. */
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
