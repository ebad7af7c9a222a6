import { Injectable } from '@nestjs/common';
import { AgentDeleted } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { TransientMap } from '../../platform/heap/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { RunLog, type RunLogWriter } from '../../platform/run-log/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunReference } from '../domain/run.js';
import { RunAborted, type RunAbortCause } from '../domain/run-abort.js';
import { isReasoning, runError } from '../engine/agui-events.js';
import type { EndedRun } from '../engine/persist-run.js';
import { RunEngine } from '../engine/run-engine.js';
import type { RunContext } from '../ports/index.js';

/** Tags of entries in the run log: only readers who ask for reasoning get those of `REASONING`. */
export const REASONING = 'reasoning';
/** A `StreamComment`. */
export const COMMENT = 'comment';
export const PLAIN = 'event';

/** A run that was started by the caller or found by its full reference, so the caller may read its events. */
export interface ActiveRun extends RunReference {
  readonly agentId: string;
  /** Resolves when the run's end is stored; rejects only for a defect of the engine. */
  readonly ended: Promise<EndedRun>;
  abort(cause: RunAbortCause): void;
}

/** Executes the runs of this process and writes their events to the run log, with or without readers. */
@Injectable()
export class RunSupervisor {
  private readonly active = new TransientMap<ActiveRun>();
  private readonly whenIdle: (() => void)[] = [];

  constructor(
    private readonly engine: RunEngine,
    private readonly log: RunLog,
    private readonly clock: Clock,
    private readonly logger: Logger,
    shutdown: ShutdownState,
    private readonly bus: EventBus,
    metrics: Metrics,
  ) {
    metrics.gauge(
      { name: 'agent_service_active_runs', help: 'Runs that are under way in this process.', labels: {} },
      () => this.active.size,
    );
    shutdown.register({
      name: 'runs',
      idle: () => this.idle(),
      abort: async () => {
        this.abortAll('server_shutdown');
        await this.idle();
      },
    });
    this.bus.subscribe(AgentDeleted, ({ agentId }) => {
      this.abortAll('agent_deleted', (run) => run.agentId === agentId);
    });
  }

  get runs(): ActiveRun[] {
    return this.active.values();
  }

  /** Not by its id alone: a caller may send the id of another organization's run. */
  find({ organizationId, threadId, runId }: RunReference): ActiveRun | undefined {
    const run = this.active.get(runId);
    return run?.organizationId === organizationId && run.threadId === threadId ? run : undefined;
  }

  /** @param revision the thread's revision when the run started; null when it is not known */
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
    // Callers of `ended` get the error; without a caller it would be an unhandled rejection.
    ended.catch(() => undefined);
    const { runId, organizationId, threadId } = input;
    const run: ActiveRun = { runId, organizationId, threadId, agentId: input.agent.id, ended, abort };
    this.active.set(runId, run);
    return run;
  }

  private idle(): Promise<void> {
    if (this.active.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.whenIdle.push(resolve));
  }

  abortAll(cause: RunAbortCause, which: (run: ActiveRun) => boolean = () => true): void {
    for (const run of this.runs) if (which(run)) run.abort(cause);
  }

  private async drive(context: RunContext, revision: number | null, writer: RunLogWriter): Promise<EndedRun> {
    try {
      return await this.engine.run(context, revision, (event) => {
        const data = JSON.stringify(event);
        if ('comment' in event) writer.note(COMMENT, data);
        else writer.append(isReasoning(event) ? REASONING : PLAIN, data);
      });
    } catch (error) {
      // A defect: the engine should end every run itself. The stream needs a terminal event all the same.
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
