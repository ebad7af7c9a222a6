import { Injectable } from '@nestjs/common';
import { KeyedQueue } from '../../platform/clock/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/**
 * Runs the memory work of one user one at a time in this process. A model may call its tools many times at once, and each save
 * holds a connection while it waits for the user's lock: without the queue, one user could take all connections.
 */
@Injectable()
export class OwnerQueue {
  private readonly queue = new KeyedQueue();

  /** @throws the reason of `signal` if it aborts before `work` starts, which then does not run */
  run<Result>(
    { organizationId, agentId, userKey }: MemoryOwner,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.queue.run(`${organizationId}/${agentId}/${userKey}`, () => {
      signal?.throwIfAborted();
      return work();
    });
  }
}
