import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import { removeDeletedThreads } from '../jobs/remove-deleted-threads.job.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { RunSignals } from './run-signals.js';
import { RunSupervisor } from './run-supervisor.js';
import { ThreadLookup } from './thread-lookup.js';

/** One statement removes so many messages quickly; a job removes a longer thread. */
const REMOVED_AT_ONCE = 200;
/** At most one job for deleted threads waits in the queue: it removes all threads that are marked when it runs. */
const DEDUPE_KEY = 'marked';

/** Deletes a thread and cancels its run under way, in whichever process. */
@Injectable()
export class DeleteThread {
  constructor(
    private readonly database: Database,
    private readonly threads: ThreadRepository,
    private readonly lookup: ThreadLookup,
    private readonly supervisor: RunSupervisor,
    private readonly signals: RunSignals,
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
    this.signals.changed({ organizationId, threadId });
    if (!removed) throw threadNotFound();
  }

  private remove(organizationId: string, threadId: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const bounds = { most: REMOVED_AT_ONCE, now: this.clock.now() };
      const outcome = await this.threads.remove(transaction, organizationId, threadId, bounds);
      if (outcome === 'marked')
        await this.outbox.enqueue(transaction, removeDeletedThreads, {}, { dedupeKey: DEDUPE_KEY });
      return outcome !== 'absent';
    });
  }
}
