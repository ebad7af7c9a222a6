import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { agentDeleted, idempotencyMismatch, threadNotFound } from '../domain/conversations.errors.js';
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

  /**
   * @returns the thread; for a repeated request the first one's thread
   * @throws DomainError `not_found` when the agent has been deleted, `unprocessable` when the idempotency key was used
   * for another request
   */
  async execute(
    organizationId: string,
    agentId: string,
    metadata: Readonly<Record<string, string>>,
    idempotency?: IdempotentRequest,
  ): Promise<Thread> {
    const thread = this.newThread(organizationId, agentId, 'api', metadata);
    const inserted = await this.threads.insert(organizationId, thread, idempotency);
    if (inserted === 'agent_absent') throw agentDeleted();
    if (inserted === 'repeated' && idempotency) return this.first(organizationId, idempotency, thread.createdAt);
    this.lookup.remember(thread);
    return thread;
  }

  /** @throws DomainError `not_found` when the agent has been deleted */
  async forWidget(organizationId: string, agentId: string): Promise<Thread> {
    const thread = this.newThread(organizationId, agentId, 'widget', {});
    if ((await this.threads.insert(organizationId, thread)) === 'agent_absent') throw agentDeleted();
    this.lookup.remember(thread);
    return thread;
  }

  private newThread(organizationId: string, agentId: string, channel: Channel, metadata: Thread['metadata']): Thread {
    const createdAt = this.clock.now();
    const times = { createdAt, updatedAt: createdAt, lastMessageAt: null };
    return { id: newId(), organizationId, agentId, title: null, channel, metadata, ...times };
  }

  private async first(organizationId: string, idempotency: IdempotentRequest, asOf: Date): Promise<Thread> {
    const record = await this.keys.findCurrent(organizationId, idempotency, asOf);
    if (record && record.fingerprint !== idempotency.fingerprint) throw idempotencyMismatch();
    const thread = record ? await this.threads.find(organizationId, record.resourceId) : null;
    if (!thread) throw threadNotFound();
    return thread;
  }
}
