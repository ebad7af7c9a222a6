import { Injectable } from '@nestjs/common';
import { AgentLoops, type LoopedRun, ModelFailure } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { RunOutcome } from '../domain/run.js';
import type { RunContext } from '../ports/index.js';
import { runError, type RunEvent, runFinished, runStarted, type StreamComment } from './agui-events.js';
import { CallModel } from './call-model.js';
import { ExecuteTools } from './execute-tools.js';
import { type EndedRun, PersistRun } from './persist-run.js';
import { PrepareRun } from './prepare-run.js';
import { resolveFailure } from './resolve-failure.js';
import { reachedLimit } from './run-budget.js';
import { type NextStep, RunState } from './run-state.js';
import { messageView, outcomeOf, runView } from './presenters.js';

/**
 * Executes a run and emits its AG-UI events. All routes read these events: those that wait, stream, or use another
 * API's format. The last event is always terminal and comes after the run's end was stored.
 */
@Injectable()
export class RunEngine {
  constructor(
    private readonly prepareRun: PrepareRun,
    private readonly callModel: CallModel,
    private readonly executeTools: ExecuteTools,
    private readonly persistRun: PersistRun,
    private readonly loops: AgentLoops,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async run(
    context: RunContext,
    revision: number | null,
    emit: (event: RunEvent | StreamComment) => void,
  ): Promise<EndedRun> {
    const state = new RunState(context, revision, emit, () => this.clock.now(), newId);
    emit(runStarted(context.threadId, context.runId));
    const outcome = await this.advance(state);
    state.releaseInput(outcome.status === 'requires_action');
    if (outcome.status === 'completed' && outcome.blocked) this.showBlock(state);
    state.closeOpenParts();
    const ended = await this.persistRun.run(state, outcome);
    emit(terminalEvent(context, ended));
    return ended;
  }

  private async advance(state: RunState): Promise<RunOutcome> {
    const { agent, organizationId, signal } = state.context;
    let loop: LoopedRun | undefined;
    try {
      let next: NextStep = await this.prepareRun.run(state);
      loop = this.loops.begin(agent.provider.type, organizationId, signal);
      for (;;) {
        switch (next.kind) {
          case 'call_model': {
            const reached = reachedLimit(state);
            if (reached) return { status: 'failed', error: reached, facts: { ownKey: false } };
            if (loop) await loop.readyForModel();
            next = await this.callModel.run(state);
            break;
          }
          case 'execute_tools':
            if (loop) await loop.readyForTools(next.calls.length);
            next = await this.executeTools.run(state, next.calls);
            break;
          case 'resume_tools':
            next = await this.executeTools.resume(state, next.decisions);
            break;
          case 'finish':
            return next.outcome;
          default:
            return next satisfies never;
        }
      }
    } catch (error) {
      this.log(state.context, error);
      return resolveFailure(error, signal);
    } finally {
      loop?.end();
    }
  }

  private showBlock(state: RunState): void {
    const reason = state.text;
    state.text = '';
    state.say(reason);
  }

  private log({ runId, signal }: RunContext, error: unknown): void {
    if (signal.aborted) return;
    if (error instanceof ModelFailure) {
      this.logger.warn({ runId, code: error.code, detail: error.facts.detail }, 'A model call failed');
    } else {
      this.logger.error({ runId, err: error }, 'A run failed inside the service');
    }
  }
}

function terminalEvent({ agent }: RunContext, { run, message, failure }: EndedRun): RunEvent {
  if (failure) return runError(failure.error);
  const view = message === null ? null : messageView(message, agent.toolProgress);
  const { type: provider, model } = agent.provider;
  return runFinished({ run: runView(run), message: view, provider, model }, outcomeOf(run));
}
