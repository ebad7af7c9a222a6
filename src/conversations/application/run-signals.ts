import { Injectable } from '@nestjs/common';
import { AgentDeleted } from '../../agents/index.js';
import { EventBus } from '../../platform/events/index.js';
import { TransientMap } from '../../platform/heap/index.js';
import { type SignalFields, Signals } from '../../platform/signals/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunReference } from '../domain/run.js';
import { RunHeartbeat } from './run-heartbeat.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';

/** Runs of other processes, by all ids that are given. */
export type ChangedRuns = Pick<RunReference, 'organizationId'> & Partial<RunReference> & { readonly agentId?: string };

/**
 * Processes tell each other which runs they have changed, and whose end a caller waits for. Without these signals, runs
 * are ended by the heartbeat of their process, and ends are found by reading the run again and again. No run is
 * signalled unless someone changes it or waits for it elsewhere.
 */
@Injectable()
export class RunSignals {
  /** Runs of this process whose end others wait for. */
  private readonly awaited = new TransientMap<true>();
  /** What to call at the end of runs of other processes, by run. */
  private readonly waiting = new TransientMap<Set<() => void>>();

  constructor(
    private readonly signals: Signals,
    private readonly supervisor: RunSupervisor,
    private readonly heartbeat: RunHeartbeat,
    private readonly logger: Logger,
    bus: EventBus,
  ) {
    signals.subscribe('runs.changed', (about) => this.lookAgain(about));
    signals.subscribe('runs.awaited', (about) => this.announceEnd(about));
    signals.subscribe('runs.ended', ({ runId = '' }) => {
      for (const wake of this.waiting.get(runId) ?? []) wake();
    });
    bus.subscribe(AgentDeleted, ({ organizationId, agentId }) => this.changed({ organizationId, agentId }));
  }

  /** Call after the commit of a request to cancel, or of a deletion. */
  changed(runs: ChangedRuns): void {
    this.signals.publish('runs.changed', { ...runs });
  }

  /**
   * Calls `wake` when the process of the run says that it has ended, which may not happen.
   * @returns a function that stops this
   */
  expectEnd({ organizationId, threadId, runId }: RunReference, wake: () => void): () => void {
    const wakes = this.waiting.get(runId) ?? new Set();
    this.waiting.set(runId, wakes.add(wake));
    this.signals.publish('runs.awaited', { organizationId, threadId, runId });
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0) this.waiting.delete(runId);
    };
  }

  /** A signal does not end a run: the database decides. */
  private lookAgain(about: SignalFields): void {
    if (!this.supervisor.runs.some((run) => isAbout(about, run))) return;
    this.heartbeat.look().catch((error: unknown) => {
      this.logger.warn({ err: error }, 'Runs that another process has changed could not be read');
    });
  }

  private announceEnd({ organizationId = '', threadId = '', runId = '' }: SignalFields): void {
    const reference = { organizationId, threadId, runId };
    const run = this.supervisor.find(reference);
    if (!run || this.awaited.has(runId)) return;
    this.awaited.set(runId, true);
    const announce = (): void => {
      this.awaited.delete(runId);
      this.signals.publish('runs.ended', reference);
    };
    run.ended.then(announce, announce);
  }
}

function isAbout({ organizationId, threadId, runId, agentId }: SignalFields, run: ActiveRun): boolean {
  return (
    organizationId === run.organizationId &&
    (threadId ?? run.threadId) === run.threadId &&
    (runId ?? run.runId) === run.runId &&
    (agentId ?? run.agentId) === run.agentId
  );
}
