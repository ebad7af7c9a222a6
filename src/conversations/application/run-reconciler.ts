import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database } from '../../platform/database/index.js';
import { RunLog } from '../../platform/run-log/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { changedCalls } from '../domain/message.js';
import { runError } from '../engine/agui-events.js';
import { RunObservers } from '../engine/run-observers.js';
import { RunOwner } from '../engine/run-owner.js';
import { OWNER_SILENT_SECONDS, RECONCILE_MS, UNKNOWN_RUN_MS } from '../engine/limits.js';
import { type OrphanedRun, type OwnRuns, RunRepository } from '../persistence/run.repository.js';
import type { FinishedRun } from '../ports/index.js';
import { RunHeartbeat } from './run-heartbeat.js';
import { PLAIN, RunSupervisor } from './run-supervisor.js';
import { UserKeys } from './user-keys.js';

const STOPPED = { code: 'internal', message: 'The service stopped while this run was under way.' } as const;

/**
 * Ends the runs of processes that died: the run is `failed` with `internal`, its message `incomplete` with the stored
 * text, and tool calls under way `unknown`. They are never repeated.
 */
@Injectable()
export class RunReconciler implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;
  private sweeping: Promise<number> | undefined;

  constructor(
    private readonly database: Database,
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly heartbeat: RunHeartbeat,
    private readonly log: RunLog,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly observers: RunObservers,
    private readonly users: UserKeys,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The embedded database belongs to one process, so the owner of any running run is dead.
    if (this.settings.embedded) await this.sweep(0);
    this.stop = this.clock.every(RECONCILE_MS, () => {
      this.reconcile().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'Orphaned runs could not be ended');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  /**
   * After an outage of the database every process looks dead. So this process stores its own heartbeat first, and ends
   * no runs until the other processes have had time to store theirs.
   * @returns how many runs were ended
   */
  async reconcile(): Promise<number> {
    await this.heartbeat.beat();
    return this.heartbeat.contact.lasted(this.clock.now().getTime(), OWNER_SILENT_SECONDS)
      ? this.sweep(OWNER_SILENT_SECONDS)
      : 0;
  }

  /** A concurrent call waits for the one under way. @returns how many runs were ended */
  sweep(silentSeconds: number): Promise<number> {
    this.sweeping ??= this.endAll(silentSeconds).finally(() => {
      this.sweeping = undefined;
    });
    return this.sweeping;
  }

  private async endAll(silentSeconds: number): Promise<number> {
    const sealing: Promise<void>[] = [];
    // Read before the first statement: when the contact breaks later, the silence of other processes proves nothing.
    const contact = this.heartbeat.contact.id;
    try {
      for (;;) {
        const ended = await this.endOne(silentSeconds, contact);
        if (!ended) break;
        // The end is stored before the terminal event. The next run does not wait for the log.
        this.observers.notifyEnded(ended);
        sealing.push(this.log.seal(ended.run.id, PLAIN, JSON.stringify(runError(STOPPED))));
      }
      await this.runs.removeSilentOwners(OWNER_SILENT_SECONDS);
      if (sealing.length > 0) this.logger.warn({ runs: sealing.length }, 'Ended the runs of a process that died');
      return sealing.length;
    } finally {
      await Promise.all(sealing);
    }
  }

  private endOne(silentSeconds: number, contact: string | null): Promise<FinishedRun | null> {
    return this.database.transaction(async (transaction) => {
      const orphan = await this.runs.takeOrphan(transaction, silentSeconds, this.own(contact));
      if (!orphan) return null;
      for (const error of orphan.unreadable) {
        this.logger.error(
          { err: error, runId: orphan.run.id },
          'Stored JSON of an orphaned run cannot be read; the run ends without it',
        );
      }
      const userKey = await this.users.ofRun(orphan.run.organizationId, orphan.user, transaction);
      const finished = this.finishedRun(orphan, userKey);
      await this.runs.finishOrphan(transaction, finished.run, finished.message, this.observers.recordsOf(finished));
      return finished;
    });
  }

  private own(contact: string | null): OwnRuns {
    const known = [...this.supervisor.runs.map(({ runId }) => runId), ...this.owner.unsettled];
    return { known, before: new Date(this.clock.now().getTime() - UNKNOWN_RUN_MS), contact };
  }

  private finishedRun(
    { run, channel, user, userMessage, decisions, message, agent }: OrphanedRun,
    userKey: string | null,
  ): FinishedRun {
    const completedAt = this.clock.now();
    return {
      run: { ...run, status: 'failed', completedAt, error: STOPPED },
      message: message && {
        ...message,
        status: 'incomplete',
        toolCalls: changedCalls(message, 'running', { status: 'unknown' }),
      },
      ...{ agent, channel, userContext: user.userContext, userKey, userMessage, decisions },
      ...{ callerSpan: null, steps: [], timeToFirstTokenMs: null },
      latencyMs: Math.max(0, completedAt.getTime() - run.createdAt.getTime()),
    };
  }
}
