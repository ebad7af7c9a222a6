import { Injectable } from '@nestjs/common';
import { ModelFailure } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { TurnOutcome } from '../domain/run.js';
import type { TurnContext } from '../ports/index.js';
import { runError, type RunEvent, runFinished, runStarted } from './agui-events.js';
import { CallModel } from './call-model.js';
import { ExecuteTools } from './execute-tools.js';
import { type EndedRun, PersistTurn } from './persist-turn.js';
import { PrepareTurn } from './prepare-turn.js';
import { resolveTurn } from './resolve-turn.js';
import { type NextStep, Turn } from './turn.js';
import { messageView, outcomeOf, runView } from './wire.js';

/**
 * Runs one turn as a sequence of AG-UI events. The only path: whoever waits for a reply, streams it
 * or reads it in another API's format, reads these events. Always ends with a terminal event, after
 * the end has been stored.
 */
@Injectable()
export class TurnEngine {
  constructor(
    private readonly prepareTurn: PrepareTurn,
    private readonly callModel: CallModel,
    private readonly executeTools: ExecuteTools,
    private readonly persistTurn: PersistTurn,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async *run(context: TurnContext, revision: number | null): AsyncGenerator<RunEvent, EndedRun> {
    const turn = new Turn(context, revision, () => this.clock.now(), newId);
    yield runStarted(context.threadId, context.runId);
    const outcome = yield* this.advance(turn);
    turn.forgetInput();
    if (outcome.status === 'completed' && outcome.blocked) yield* this.showBlock(turn);
    yield* turn.closeOpenParts();
    const ended = await this.persistTurn.run(turn, outcome);
    yield terminalEvent(context, ended);
    return ended;
  }

  private async *advance(turn: Turn): AsyncGenerator<RunEvent, TurnOutcome> {
    try {
      let next: NextStep = await this.prepareTurn.run(turn);
      for (;;) {
        switch (next.kind) {
          case 'call_model':
            next = yield* this.callModel.run(turn);
            break;
          case 'execute_tools':
            next = yield* this.executeTools.run(turn, next.calls);
            break;
          case 'resume_tools':
            next = yield* this.executeTools.resume(turn, next.decisions);
            break;
          case 'finish':
            return next.outcome;
          default:
            return next satisfies never;
        }
      }
    } catch (error) {
      this.log(turn.context, error);
      return resolveTurn(error, turn.context.signal);
    }
  }

  private *showBlock(turn: Turn): Generator<RunEvent> {
    const reason = turn.text;
    turn.text = '';
    yield* turn.say(reason);
  }

  private log({ runId, signal }: TurnContext, error: unknown): void {
    if (signal.aborted) return;
    if (error instanceof ModelFailure) {
      this.logger.warn({ runId, code: error.code, detail: error.facts.detail }, 'A model call failed');
    } else {
      this.logger.error({ runId, err: error }, 'A turn failed inside the service');
    }
  }
}

function terminalEvent({ agent }: TurnContext, { run, message, failure }: EndedRun): RunEvent {
  if (failure) return runError(failure.error);
  const view = message === null ? null : messageView(message, agent.toolProgress);
  const { type: provider, model } = agent.provider;
  return runFinished({ run: runView(run), message: view, provider, model }, outcomeOf(run));
}
