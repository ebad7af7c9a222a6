import { Injectable } from '@nestjs/common';
import { KeyedQueue } from '../../platform/clock/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/**
 * One at a time of what this process does with the memories of one user. A model may call its tools any number of times at
 * once, and each save holds a connection while it waits for the user's lock: all others would be left without.
 */
@Injectable()
export class OwnerQueue {
  private readonly queue = new KeyedQueue();

  /** @throws the reason of `signal` where that has aborted before it is the turn of `work`, which then does not begin */
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
