import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { agentDeleted, threadNotFound } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Channel, Thread } from '../domain/thread.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { ThreadLookup } from './thread-lookup.js';

@Injectable()
export class CreateThread {
  constructor(
    private readonly threads: ThreadRepository,
    private readonly keys: IdempotencyRepository,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` when the agent has been deleted, `unprocessable` for a key of another request */
  async execute(
    organizationId: string,
    agentId: string,
    { channel, metadata = {} }: { readonly channel: Channel; readonly metadata?: Thread['metadata'] | undefined },
    idempotency?: IdempotentRequest,
  ): Promise<Thread> {
    const createdAt = this.clock.now();
    const times = { createdAt, updatedAt: createdAt, lastMessageAt: null };
    const thread: Thread = { id: newId(), organizationId, agentId, title: null, channel, metadata, ...times };
    const inserted = await this.threads.insert(organizationId, thread, idempotency);
    if (inserted === 'agent_absent') throw agentDeleted();
    if (inserted === 'repeated' && idempotency) {
      const id = await this.keys.findResource(organizationId, idempotency, thread.createdAt);
      const first = id === null ? null : await this.threads.find(organizationId, id);
      if (!first) throw threadNotFound();
      return first;
    }
    this.lookup.remember(thread);
    return thread;
  }
}
