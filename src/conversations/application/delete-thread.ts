import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import { removeDeletedThreads } from '../jobs/remove-deleted-threads.job.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { RunSupervisor } from './run-supervisor.js';
import { ThreadLookup } from './thread-lookup.js';

/** Messages that one statement removes in a moment; a longer thread is left to a job. */
const REMOVED_AT_ONCE = 200;
/** Of the jobs for deleted threads one waits at most: it removes whatever is marked by then. */
const ONE_WAITS = 'marked';

/** Removes a conversation for good; a run under way on it is cancelled, in other processes at their next heartbeat. */
@Injectable()
export class DeleteThread {
  constructor(
    private readonly database: Database,
    private readonly threads: ThreadRepository,
    private readonly lookup: ThreadLookup,
    private readonly supervisor: RunSupervisor,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async execute(organizationId: string, threadId: string): Promise<void> {
    const removed = await this.remove(organizationId, threadId);
    this.lookup.forget(organizationId, threadId);
    this.supervisor.abortAll(
      'thread_deleted',
      (run) => run.organizationId === organizationId && run.threadId === threadId,
    );
    if (!removed) throw threadNotFound();
  }

  private remove(organizationId: string, threadId: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const bounds = { most: REMOVED_AT_ONCE, now: this.clock.now() };
      const outcome = await this.threads.remove(transaction, organizationId, threadId, bounds);
      if (outcome === 'marked')
        await this.outbox.enqueue(transaction, removeDeletedThreads, {}, { dedupeKey: ONE_WAITS });
      return outcome !== 'absent';
    });
  }
}
