import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { RunLog, type RunLogWriter } from '../../platform/run-log/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunReference } from '../domain/run.js';
import { RunAborted, type RunAbortCause } from '../domain/run-abort.js';
import { isReasoning, runError } from '../engine/agui-events.js';
import type { EndedRun } from '../engine/persist-run.js';
import { RunEngine } from '../engine/run-engine.js';
import type { RunContext } from '../ports/index.js';

/** Tags of the run log: reasoning is shown to those who ask for it. */
export const REASONING = 'reasoning';
export const PLAIN = 'event';

/** A run that was started, or found under its full reference: who has one may read its events. */
export interface ActiveRun extends RunReference {
  readonly agentId: string;
  /** Settles when the run has ended and is stored; never rejects but for a defect. */
  readonly ended: Promise<EndedRun>;
  abort(cause: RunAbortCause): void;
}

/** Carries runs from start to end, whoever listens to them. */
@Injectable()
export class RunSupervisor {
  private readonly active = new Map<string, ActiveRun>();
  private readonly whenIdle: (() => void)[] = [];

  constructor(
    private readonly engine: RunEngine,
    private readonly log: RunLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    metrics.gauge(
      { name: 'agent_service_active_runs', help: 'Runs that are under way in this process.', labels: {} },
      () => [{ labels: {}, value: this.active.size }],
    );
  }

  get runs(): ActiveRun[] {
    return [...this.active.values()];
  }

  /**
   * The run, where it is under way in this process. Never by its id alone, which a caller may have from another
   * thread or another organization.
   */
  find({ organizationId, threadId, runId }: RunReference): ActiveRun | undefined {
    const run = this.active.get(runId);
    return run?.organizationId === organizationId && run.threadId === threadId ? run : undefined;
  }

  /** @param revision of the thread that the run begins at, null where it is not known */
  launch(input: Omit<RunContext, 'signal' | 'steps' | 'earlierCalls'>, revision: number | null): ActiveRun {
    const controller = new AbortController();
    const abort = (cause: RunAbortCause): void => {
      controller.abort(new RunAborted(cause));
    };
    const cancelTimeout = this.clock.after(input.agent.timeoutMinutes * 60_000, () => {
      abort('timeout');
    });
    const writer = this.log.open(input.runId);
    const ended = this.drive(
      { ...input, steps: [], earlierCalls: [], signal: controller.signal },
      revision,
      writer,
    ).finally(() => {
      cancelTimeout();
      input.attached.release();
      writer.end();
      this.forget(input.runId);
    });
    // A defect reaches those who wait, and is in the log; without anybody waiting it would count as unhandled.
    ended.catch(() => undefined);
    const { runId, organizationId, threadId } = input;
    const run: ActiveRun = { runId, organizationId, threadId, agentId: input.agent.id, ended, abort };
    this.active.set(runId, run);
    return run;
  }

  /** Resolves once no run is under way. */
  idle(): Promise<void> {
    if (this.active.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenIdle.push(resolve));
  }

  abortAll(cause: RunAbortCause, which: (run: ActiveRun) => boolean = () => true): void {
    for (const run of this.runs) if (which(run)) run.abort(cause);
  }

  private async drive(context: RunContext, revision: number | null, writer: RunLogWriter): Promise<EndedRun> {
    try {
      const events = this.engine.run(context, revision);
      for (;;) {
        const next = await events.next();
        if (next.done) return next.value;
        writer.append(isReasoning(next.value) ? REASONING : PLAIN, JSON.stringify(next.value));
      }
    } catch (error) {
      // A defect: the engine promises to end every run itself. The stream still gets its terminal event.
      this.logger.error({ err: error, runId: context.runId }, 'The run engine threw');
      writer.append(
        PLAIN,
        JSON.stringify(runError({ code: 'internal', message: 'The run failed inside the service.' })),
      );
      throw error;
    }
  }

  private forget(runId: string): void {
    this.active.delete(runId);
    if (this.active.size === 0) for (const resolve of this.whenIdle.splice(0)) resolve();
  }
}
