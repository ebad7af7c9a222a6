import { Injectable } from '@nestjs/common';
import { threadNotFound } from '../domain/conversations.errors.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { RunSupervisor } from './run-supervisor.js';
import { ThreadLookup } from './thread-lookup.js';

/** Removes a conversation for good; a run under way on it is cancelled, in other processes at their next heartbeat. */
@Injectable()
export class DeleteThread {
  constructor(
    private readonly threads: ThreadRepository,
    private readonly lookup: ThreadLookup,
    private readonly supervisor: RunSupervisor,
  ) {}

  /** @throws DomainError `not_found` */
  async execute(organizationId: string, threadId: string): Promise<void> {
    const removed = await this.threads.remove(organizationId, threadId);
    this.lookup.forget(organizationId, threadId);
    this.supervisor.abortAll('thread_deleted', (run) => run.threadId === threadId);
    if (!removed) throw threadNotFound();
  }
}
