import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { RunLog, type RunLogEntry, RunLogUnavailable } from '../../platform/run-log/index.js';
import { callerLeft, runGone, runNotFound } from '../domain/conversations.errors.js';
import type { RunReference } from '../domain/run.js';
import { endedAs, type EndedRun } from '../engine/persist-run.js';
import { replayRun } from '../engine/replay-run.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { type ActiveRun, PLAIN, RunSupervisor } from './run-supervisor.js';

/** How often a run of another process is looked at, where its events cannot be followed. */
const LOOK_AGAIN_MS = 500;

export type RunEntries = AsyncIterable<readonly RunLogEntry[]>;

/** Finds a run that another request has started, in whichever process it is. */
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
  async read({ organizationId, threadId, runId }: RunReference): Promise<StoredRun> {
    const stored = await this.runs.find(organizationId, threadId, runId);
    if (!stored) throw runNotFound();
    return stored;
  }

  /**
   * The run as the request that started it has it. A caller who leaves never ends it, only the waiting for it.
   * @throws DomainError `not_found`
   */
  async join(reference: RunReference, disconnected?: () => AbortSignal): Promise<ActiveRun> {
    const local = this.supervisor.find(reference);
    if (local) return new JoinedRun(reference, local.agentId, () => local.ended);
    const stored = await this.read(reference);
    return new JoinedRun(reference, stored.run.agentId, () => this.end(reference, stored, disconnected?.()));
  }

  /**
   * Resolves when the run has ended, in whichever process it is.
   * @throws DomainError `not_found`, `gone` when the caller left before that
   */
  async ended(reference: RunReference, disconnected: () => AbortSignal): Promise<void> {
    await (this.supervisor.find(reference)?.ended ?? this.waitForEnd(reference, disconnected()));
  }

  /**
   * Events after `after`, of a run under way or just ended.
   * @throws DomainError `not_found` for an unknown run, `gone` when its events are no longer kept
   */
  async events(reference: RunReference, after: number, signal: AbortSignal): Promise<RunEntries> {
    // A log is kept under the run's id alone, so the reference has to be confirmed before it is read.
    if (!this.supervisor.find(reference)) await this.read(reference);
    const entries = await this.log.read(reference.runId, after, signal);
    if (!entries) throw runGone();
    return entries;
  }

  /**
   * All events of the run from the first on; where they are no longer kept, or out of reach, made again from
   * what is stored.
   */
  async wholeRun(run: ActiveRun, signal: AbortSignal): Promise<RunEntries> {
    return (await this.readable(run.runId, signal)) ?? this.replay(run, signal);
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
    const { run, message, model, decisions } = await this.waitForEnd(reference, signal);
    const agent = await this.agents.find(reference.organizationId, run.agentId);
    const events = replayRun({
      run,
      message,
      decisions,
      provider: model.provider,
      model: model.model,
      toolProgress: agent?.toolProgress ?? false,
    });
    yield [...events].map((event, index) => ({ number: index + 1, tag: PLAIN, data: JSON.stringify(event) }));
  }

  private async end(reference: RunReference, stored: StoredRun, disconnected?: AbortSignal): Promise<EndedRun> {
    return endedAs(stored.run.status === 'running' ? await this.waitForEnd(reference, disconnected) : stored);
  }

  /** A run that has no process any more is ended by the reconciler, so this ends too. */
  private async waitForEnd(reference: RunReference, signal?: AbortSignal): Promise<StoredRun> {
    for (;;) {
      const stored = await this.read(reference);
      if (stored.run.status !== 'running') return stored;
      await this.pause(signal);
    }
  }

  private async pause(signal?: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(LOOK_AGAIN_MS, signal);
    } catch (error) {
      throw signal?.aborted === true ? callerLeft() : error;
    }
  }
}

/** The run of another request. Its end is looked for only when it is asked for, as readers of events never do. */
class JoinedRun implements ActiveRun {
  readonly organizationId: string;
  readonly threadId: string;
  readonly runId: string;
  private waiting: Promise<EndedRun> | undefined;

  constructor(
    reference: RunReference,
    readonly agentId: string,
    private readonly end: () => Promise<EndedRun>,
  ) {
    this.organizationId = reference.organizationId;
    this.threadId = reference.threadId;
    this.runId = reference.runId;
  }

  get ended(): Promise<EndedRun> {
    if (!this.waiting) {
      this.waiting = this.end();
      // A failure reaches those who wait; without any of them it would count as unhandled.
      this.waiting.catch(() => undefined);
    }
    return this.waiting;
  }

  abort(): void {
    // It goes on for the request that started it.
  }
}
