import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database } from '../../platform/database/index.js';
import { RunLog } from '../../platform/run-log/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { changedCalls } from '../domain/message.js';
import { runError, type RunEvent, runFinished } from '../engine/agui-events.js';
import { outcomeOf, runView } from '../engine/presenters.js';
import { RunObservers } from '../engine/run-observers.js';
import { RunOwner } from '../engine/run-owner.js';
import { DatabaseOutage } from '../engine/database-outage.js';
import { MAX_LOST_STARTS, OWNER_SILENT_SECONDS, RECONCILE_MS, UNKNOWN_RUN_MS } from '../engine/limits.js';
import { type OrphanedRun, type OwnRuns, RunRepository } from '../persistence/run.repository.js';
import type { FinishedRun } from '../ports/index.js';
import { RunHeartbeat } from './run-heartbeat.js';
import { PLAIN, RunSupervisor } from './run-supervisor.js';
import { UserKeys } from './user-keys.js';

const STOPPED = { code: 'internal', message: 'The service stopped while this run was under way.' } as const;

/**
 * Ends the runs of processes that died: the run is `failed` with `internal` (`cancelled` where it was deleted too), its message `incomplete` with the stored
 * text, and tool calls under way `unknown`. They are never repeated.
 */
@Injectable()
export class RunReconciler implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;
  private sweeping: Promise<number> | undefined;
  private endingLost: Promise<number> | undefined;

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
    private readonly outage: DatabaseOutage,
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
    if (this.heartbeat.contact.lasted(this.clock.now().getTime(), OWNER_SILENT_SECONDS)) {
      return this.sweep(OWNER_SILENT_SECONDS);
    }
    return this.owner.lostStarts.size === 0 ? 0 : this.endOwn();
  }

  /** Ends the run as soon as the database is reachable, if it was stored with the response lost: until then its thread is busy. */
  startFailed(runId: string): void {
    const { lostStarts } = this.owner;
    if (lostStarts.size >= MAX_LOST_STARTS) return;
    lostStarts.add(runId);
    // The statement may still be under way, so the run is looked for until it is ended as any unknown run.
    this.clock.after(UNKNOWN_RUN_MS, () => lostStarts.delete(runId));
    this.endingLost ??= this.outage
      .outlast({}, () => this.endOwn())
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'Runs whose start was lost could not be ended');
        return 0;
      })
      .finally(() => {
        this.endingLost = undefined;
      });
  }

  /** A concurrent call waits for the one under way. @returns how many runs were ended */
  sweep(silentSeconds: number): Promise<number> {
    this.sweeping ??= this.endAll(silentSeconds).finally(() => {
      this.sweeping = undefined;
    });
    return this.sweeping;
  }

  private async endAll(silentSeconds: number): Promise<number> {
    // Read before the first statement: when the contact breaks later, the silence of other processes proves nothing.
    const ended = await this.endEach(silentSeconds, this.heartbeat.contact.id);
    await this.runs.removeSilentOwners(OWNER_SILENT_SECONDS);
    return ended;
  }

  /** Without a contact no run of another process is taken. */
  private endOwn(): Promise<number> {
    return this.endEach(OWNER_SILENT_SECONDS, null);
  }

  private async endEach(silentSeconds: number, contact: string | null): Promise<number> {
    const sealing: Promise<void>[] = [];
    try {
      for (;;) {
        const ended = await this.endOne(silentSeconds, contact);
        if (!ended) break;
        // The end is stored before the terminal event. The next run does not wait for the log.
        this.observers.notifyEnded(ended);
        sealing.push(this.log.seal(ended.run.id, PLAIN, JSON.stringify(terminalEvent(ended))));
      }
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
    const { unsettled, lateStarts } = this.owner;
    const known = [...this.supervisor.runs.map(({ runId }) => runId), ...unsettled, ...lateStarts];
    const lost = [...this.owner.lostStarts];
    return { known, lost, before: new Date(this.clock.now().getTime() - UNKNOWN_RUN_MS), contact };
  }

  private finishedRun(
    { run, channel, user, userMessage, decisions, message, agent, isDeleted }: OrphanedRun,
    userKey: string | null,
  ): FinishedRun {
    const completedAt = this.clock.now();
    const end = isDeleted ? ({ status: 'cancelled' } as const) : ({ status: 'failed', error: STOPPED } as const);
    return {
      run: { ...run, completedAt, ...end },
      failureCause: 'operator',
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

/** The message is left out: of a failed run it is not sent, and of a deleted one it is gone. */
function terminalEvent({ run, agent: { provider, model } }: FinishedRun): RunEvent {
  return run.error
    ? runError(run.error)
    : runFinished({ run: runView(run), message: null, provider, model }, outcomeOf(run));
}
