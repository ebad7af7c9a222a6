import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { RunLog } from '../../platform/run-log/index.js';
import { runEventsExpired, runNotFound } from '../domain/conversations.errors.js';
import { withExpiredCalls } from '../domain/message.js';
import { type RunReference, withOpenRequests } from '../domain/run.js';
import { toEndedRun, type EndedRun } from '../engine/persist-run.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { FollowRun, type RunEntries } from './follow-run.js';
import { RunEnds } from './run-ends.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';

/** A run with its reply. Its `approvals` are only those that can still be answered. */
export type CurrentRun = Pick<StoredRun, 'run' | 'message'>;

/** Reads and joins runs that other requests have started, in this process or another one. */
@Injectable()
export class JoinRun {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly runs: RunReader,
    private readonly ends: RunEnds,
    private readonly followRun: FollowRun,
    private readonly log: RunLog,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` */
  async read(reference: RunReference): Promise<CurrentRun> {
    const { run: stored, message, unanswered } = await this.stored(reference);
    const run = withOpenRequests(stored, unanswered, this.clock.now());
    const haveExpired = unanswered && stored.approvals.length > run.approvals.length;
    return { run, message: haveExpired ? message && withExpiredCalls(message) : message };
  }

  /** A caller that disconnects ends only its own waiting. @throws DomainError `not_found` */
  async join(reference: RunReference, disconnected?: () => AbortSignal): Promise<ActiveRun> {
    const local = this.supervisor.find(reference);
    if (local) return new JoinedRun(reference, local.agentId, null, () => local.ended);
    const stored = await this.stored(reference);
    return new JoinedRun(reference, stored.run.agentId, stored, () => this.end(reference, stored, disconnected?.()));
  }

  /** @throws DomainError `not_found`, `gone` when the caller disconnected before the end; DatabaseUnavailable */
  async ended(reference: RunReference, disconnected: () => AbortSignal): Promise<void> {
    await (this.supervisor.find(reference)?.ended ?? this.waitForEnd(reference, null, disconnected()));
  }

  /** @throws DomainError `not_found`, `gone` when the events are no longer kept */
  async events(reference: RunReference, after: number, signal: AbortSignal): Promise<RunEntries> {
    const local = await this.localEvents(reference, after, signal);
    if (local) return local;
    // The log knows only the run's id, so the reference must be checked before the log is read.
    const awaited = this.ends.expect(reference, await this.stored(reference));
    const entries = await this.followRun.after(awaited, after, signal);
    if (!entries) throw runEventsExpired();
    return entries;
  }

  /** All events of the run, whenever it was. */
  async wholeRun(run: ActiveRun, signal: AbortSignal): Promise<RunEntries> {
    return (
      (await this.localEvents(run, 0, signal)) ?? this.followRun.whole(this.ends.expect(run, storedOf(run)), signal)
    );
  }

  /** @returns null unless this process executes the run */
  private async localEvents(run: RunReference, after: number, signal: AbortSignal): Promise<RunEntries | null> {
    return this.supervisor.find(run) ? this.log.read(run.runId, after, signal) : null;
  }

  private async stored({ organizationId, threadId, runId }: RunReference): Promise<StoredRun> {
    const stored = await this.runs.find(organizationId, threadId, runId);
    if (!stored?.threadExists) throw runNotFound();
    return stored;
  }

  private async end(reference: RunReference, stored: StoredRun, disconnected?: AbortSignal): Promise<EndedRun> {
    return toEndedRun(
      stored.run.status === 'running' ? await this.waitForEnd(reference, stored, disconnected) : stored,
    );
  }

  private async waitForEnd(reference: RunReference, stored: StoredRun | null, left?: AbortSignal): Promise<StoredRun> {
    const ended = await this.ends.wait(this.ends.expect(reference, stored), left, Infinity);
    if (!ended) throw new Error('A run without an end');
    return ended;
  }
}

function storedOf(run: ActiveRun): StoredRun | null {
  return run instanceof JoinedRun ? run.stored : null;
}

/** The run of another request. Reads the run's end only on demand, since readers of events do not need it. */
class JoinedRun implements ActiveRun {
  readonly organizationId: string;
  readonly threadId: string;
  readonly runId: string;
  private waiting: Promise<EndedRun> | undefined;

  constructor(
    { organizationId, threadId, runId }: RunReference,
    readonly agentId: string,
    /** As it was when it was joined; null for a run of this process. */
    readonly stored: StoredRun | null,
    private readonly end: () => Promise<EndedRun>,
  ) {
    this.organizationId = organizationId;
    this.threadId = threadId;
    this.runId = runId;
  }

  get ended(): Promise<EndedRun> {
    if (!this.waiting) {
      this.waiting = this.end();
      // Callers of `ended` get the failure; without a caller it would be an unhandled rejection.
      this.waiting.catch(() => undefined);
    }
    return this.waiting;
  }

  abort(): void {
    // The run continues for the request that started it.
  }
}
