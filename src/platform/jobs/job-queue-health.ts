import { Injectable } from '@nestjs/common';
import { HealthCheck, NotReady } from '../http/index.js';
import { JobQueue } from './job-queue.js';

/** The queue's own connection to Redis answers. Without it the service still does its work, but its jobs wait. */
@Injectable()
export class JobQueueHealth extends HealthCheck {
  readonly name = 'jobs';

  constructor(private readonly queue: JobQueue) {
    super();
  }

  async check(): Promise<void> {
    if (!this.queue.isReachable()) throw new NotReady('does not answer');
    await this.queue.ping();
  }
}
