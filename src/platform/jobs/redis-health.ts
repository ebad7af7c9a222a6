import { Injectable } from '@nestjs/common';
import { HealthCheck, NotReady } from '../http/index.js';
import { JobQueue } from './job-queue.js';

/** Redis answers. Without it the service still does its work, but its jobs wait. */
@Injectable()
export class RedisHealth extends HealthCheck {
  readonly name = 'redis';

  constructor(private readonly queue: JobQueue) {
    super();
  }

  async check(): Promise<void> {
    if (!this.queue.isReachable()) throw new NotReady('does not answer');
    await this.queue.ping();
  }
}
