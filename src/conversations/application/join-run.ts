import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { RunLog, type RunLogEntry, RunLogUnavailable } from '../../platform/run-log/index.js';
import { callerDisconnected, runEventsExpired, runNotFound } from '../domain/conversations.errors.js';
import { withExpiredCalls } from '../domain/message.js';
import { type RunReference, withOpenRequests } from '../domain/run.js';
import { toEndedRun, type EndedRun } from '../engine/persist-run.js';
import { replayRun } from '../engine/replay-run.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { type ActiveRun, PLAIN, RunSupervisor } from './run-supervisor.js';

/** How often a run of another process is read until it has ended. */
const POLL_MS = 500;

/** A run with its reply. Its `approvals` are only those that can still be answered. */
export type CurrentRun = Pick<StoredRun, 'run' | 'message'>;

export type RunEntries = AsyncIterable<readonly RunLogEntry[]>;

/** Reads and joins runs that other requests have started, in this process or another one. */
@Injectable()
export class JoinRun {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly runs: RunReader,
    private readonly agents: AgentDirectory,
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
    if (local) return new JoinedRun(reference, local.agentId, () => local.ended);
    const stored = await this.stored(reference);
    return new JoinedRun(reference, stored.run.agentId, () => this.end(reference, stored, disconnected?.()));
  }

  /** @throws DomainError `not_found`, `gone` when the caller disconnected before the end */
  async ended(reference: RunReference, disconnected: () => AbortSignal): Promise<void> {
    await (this.supervisor.find(reference)?.ended ?? this.waitForEnd(reference, disconnected()));
  }

  /** @throws DomainError `not_found`, `gone` when the events are no longer kept */
  async events(reference: RunReference, after: number, signal: AbortSignal): Promise<RunEntries> {
    // The log knows only the run's id, so the reference must be checked before the log is read.
    if (!this.supervisor.find(reference)) await this.stored(reference);
    const entries = await this.log.read(reference.runId, after, signal);
    if (!entries) throw runEventsExpired();
    return entries;
  }

  /**
   * All events of the run. When the log has no events of it or cannot be reached, they are made from the stored run.
   */
  async wholeRun(run: ActiveRun, signal: AbortSignal): Promise<RunEntries> {
    return (await this.readable(run.runId, signal)) ?? this.replay(run, signal);
  }

  private async stored({ organizationId, threadId, runId }: RunReference): Promise<StoredRun> {
    const stored = await this.runs.find(organizationId, threadId, runId);
    if (!stored?.threadExists) throw runNotFound();
    return stored;
  }

  private async readable(runId: string, signal: AbortSignal): Promise<RunEntries | null> {
    try {
      return await this.log.read(runId, 0, signal);
    } catch (error) {
      if (error instanceof RunLogUnavailable) return null;
      throw error;
    }
  }

  private async *replay(reference: RunReference, signal: AbortSignal): RunEntries {
    const stored = await this.waitForEnd(reference, signal);
    const agent = await this.agents.find(reference.organizationId, stored.run.agentId);
    const events = replayRun(stored, agent?.toolProgress ?? false);
    yield [...events].map((event, index) => ({ number: index + 1, tag: PLAIN, data: JSON.stringify(event) }));
  }

  private async end(reference: RunReference, stored: StoredRun, disconnected?: AbortSignal): Promise<EndedRun> {
    return toEndedRun(stored.run.status === 'running' ? await this.waitForEnd(reference, disconnected) : stored);
  }

  /** The reconciler ends a run whose process has died, so this ends too. */
  private async waitForEnd(reference: RunReference, signal?: AbortSignal): Promise<StoredRun> {
    for (;;) {
      const stored = await this.stored(reference);
      if (stored.run.status !== 'running') return stored;
      await this.pause(signal);
    }
  }

  private async pause(signal?: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(POLL_MS, signal);
    } catch (error) {
      throw signal?.aborted === true ? callerDisconnected() : error;
    }
  }
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
