import { Inject, Injectable } from '@nestjs/common';
import { creditsFor, findModel } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, DatabaseUnavailable, type Statement } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { NEVER_ASKED } from '../domain/approval.js';
import type { Message, MessageStatus, SaidMessage } from '../domain/message.js';
import { errorOf, type FailureFacts, type Run, type RunError, type TurnOutcome } from '../domain/run.js';
import { titleOf } from '../domain/thread.js';
import { TurnAborted } from '../domain/turn-abort.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { RunRepository } from '../persistence/run.repository.js';
import type { FinishedTurn, TurnContext, TurnObserver } from '../ports/index.js';
import { TURN_OBSERVERS } from './participants.js';
import { bytesOf, RecentMessages, type ThreadTail } from './recent-messages.js';
import { RunOwner } from './run-owner.js';
import { STORE_AGAIN_MS, STORE_PAUSE_MS, STORE_REFUSALS, STORE_TRIES } from './tunables.js';
import type { Turn } from './turn.js';

/** How a run ended, for those who wait for it in this process. */
export interface EndedRun {
  readonly run: Run;
  readonly message: Message | null;
  readonly failure: { readonly error: RunError; readonly facts: FailureFacts } | null;
}

/** What those who wait are told of a run that has ended in any process. */
export function endedAs({ run, message, facts }: StoredRun): EndedRun {
  return { run, message, failure: run.error === null ? null : { error: run.error, facts } };
}

/**
 * Last phase of a turn: its end in one statement: message, run, and what the observers keep. What
 * a caller is told has been stored by then.
 */
@Injectable()
export class PersistTurn {
  constructor(
    private readonly database: Database,
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly recent: RecentMessages,
    private readonly owner: RunOwner,
    private readonly clock: Clock,
    private readonly logger: Logger,
    @Inject(TURN_OBSERVERS) private readonly observers: readonly TurnObserver[],
  ) {}

  async run(turn: Turn, outcome: TurnOutcome): Promise<EndedRun> {
    const finished = this.finishedTurn(turn, outcome);
    try {
      const revision = await this.insisting(() => this.store(finished, this.observers, factsOf(outcome)));
      if (revision !== null) {
        if (turn.tail) this.recent.keep(finished.run.threadId, revision, extended(turn.tail, turn.context, finished));
        return ended(finished, outcome);
      }
      // Deleted with its thread or agent: nothing is left to store, and nothing that could say otherwise.
      if (wasDeleted(turn)) return ended(finished, outcome);
      const stored = await this.storedEnd(finished.run);
      if (stored) return stored;
      this.logger.warn({ runId: finished.run.id }, 'The run was ended by another process');
    } catch (error) {
      this.logger.error({ err: error, runId: finished.run.id }, 'The end of a run could not be stored; trying again');
      this.storeLater(asInternal(finished));
    }
    return ended(asInternal(finished), outcome);
  }

  /** @returns null when the run is no longer this process's to end */
  private async store(
    finished: FinishedTurn,
    observers: readonly TurnObserver[],
    facts?: FailureFacts,
  ): Promise<number | null> {
    const { run, message, userMessage } = finished;
    const answered = run.status === 'completed' || run.status === 'requires_action';
    const title = answered && userMessage ? titleOf(userMessage.text) : null;
    const records = recordsOf(observers, finished);
    return this.runs.finish(this.database, run, this.owner.id, message, { title, facts, records });
  }

  /**
   * The end that this process has stored after all: the statement was carried out, and its answer lost with the
   * connection. Null when another process has ended the run. What is remembered of the thread needs no change: its
   * revision tells that it is old.
   */
  private async storedEnd({ organizationId, threadId, id }: Run): Promise<EndedRun | null> {
    const stored = await this.insisting(() => this.reader.find(organizationId, threadId, id));
    return stored?.ownerId === this.owner.id && stored.run.status !== 'running' ? endedAs(stored) : null;
  }

  /**
   * A moment without a free connection is no reason to call a completed run failed; a database that is
   * down is told soon all the same.
   */
  private async insisting<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || attempt === STORE_TRIES) throw error;
        await this.clock.sleep(STORE_PAUSE_MS);
      }
    }
  }

  /**
   * The thread stays busy until this succeeds, which is what it is: its last turn is not stored. An end that turns out
   * to be stored already, by a statement whose answer was lost or by another process, is done with. A database that is
   * there and refuses the end again and again is sent it without what the observers keep: their fault does not keep
   * the thread busy for ever.
   */
  private storeLater(finished: FinishedTurn, refusals = 0): void {
    const { id } = finished.run;
    this.owner.unsettled.add(id);
    this.clock.after(STORE_AGAIN_MS, () => {
      // A heartbeat has found that there is nothing left to end.
      if (!this.owner.unsettled.has(id)) return;
      this.store(finished, refusals < STORE_REFUSALS ? this.observers : []).then(
        () => this.owner.unsettled.delete(id),
        (error: unknown) => {
          const refused = !(error instanceof DatabaseUnavailable);
          if (refused) this.logger.error({ err: error, runId: id }, 'The database refuses the end of a run');
          this.storeLater(finished, refused ? refusals + 1 : refusals);
        },
      );
    });
  }

  private finishedTurn(turn: Turn, outcome: TurnOutcome): FinishedTurn {
    const { context } = turn;
    const { startedAt, elapsedMs } = context.stopwatch;
    return {
      run: {
        id: context.runId,
        organizationId: context.organizationId,
        threadId: context.threadId,
        agentId: context.agent.id,
        status: outcome.status,
        createdAt: startedAt,
        completedAt: notBefore(startedAt, this.clock.now()),
        usage: usageOf(turn),
        error: errorOf(outcome),
        approvals: outcome.status === 'requires_action' ? outcome.approvals : [],
        stopReason: turn.stopReason,
      },
      agent: { ...context.agent.provider, provider: context.agent.provider.type },
      channel: context.channel,
      userMessage: context.userMessage,
      decisions: context.decisions,
      message: messageOf(turn, outcome),
      userContext: context.userContext,
      steps: turn.steps,
      latencyMs: elapsedMs(),
      timeToFirstTokenMs: turn.timeToFirstTextMs,
    };
  }
}

/** The wall clock may have been set back while the run was under way. */
function notBefore(earliest: Date, now: Date): Date {
  return now < earliest ? earliest : now;
}

function wasDeleted({ context: { signal } }: Turn): boolean {
  const cause = signal.reason instanceof TurnAborted ? signal.reason.abortCause : undefined;
  return cause === 'agent_deleted' || cause === 'thread_deleted';
}

/** What those who are told of the turn keep with its end. */
export function recordsOf(observers: readonly TurnObserver[], finished: FinishedTurn): Statement[] {
  return observers.flatMap((observer) => observer.record(finished) ?? []);
}

function messageOf(turn: Turn, outcome: TurnOutcome): Message | null {
  const isWhole = outcome.status === 'completed' || outcome.status === 'requires_action';
  const status: MessageStatus = isWhole ? 'completed' : 'incomplete';
  return turn.message(status, outcome);
}

/** The thread as the turn leaves it. */
function extended({ messages, before, bytes }: ThreadTail, context: TurnContext, { message }: FinishedTurn): ThreadTail {
  const added = [...questionOf(context), ...(message === null ? [] : [message])];
  return { messages: [...messages, ...added], before, bytes: bytes + bytesOf(added) };
}

function questionOf({ runId, userMessage }: TurnContext): SaidMessage[] {
  if (userMessage === null) return [];
  const { id, text: content, attachments = [] } = userMessage;
  const attached = attachments.length === 0 ? {} : { attachments };
  return [{ id, runId, role: 'user', content, blocked: false, toolCalls: [], transcript: [], ...attached }];
}

function usageOf(turn: Turn): Run['usage'] {
  const { inputTokens, outputTokens } = turn.totalUsage;
  const { provider } = turn.context.agent;
  const model = findModel(provider.type, provider.model);
  const credits = provider.useOwnApiKey || !model ? 0 : creditsFor(model, turn.totalUsage);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
    credits,
  };
}

/** What is not stored is not told as done: the end becomes a failure of the service's own. */
function asInternal(finished: FinishedTurn): FinishedTurn {
  return {
    ...finished,
    run: {
      ...finished.run,
      status: 'failed',
      error: { code: 'internal', message: 'The service could not store the end of this run.' },
      approvals: [],
    },
    message: finished.message === null ? null : unfinished(finished.message),
  };
}

/** Nobody is asked any more, so no call waits for an answer. */
function unfinished(message: Message): Message {
  const toolCalls = message.toolCalls.map((call) =>
    call.status === 'awaiting_approval' ? { ...call, status: 'denied' as const, output: NEVER_ASKED } : call,
  );
  return { ...message, status: 'incomplete', toolCalls };
}

function ended({ run, message }: FinishedTurn, outcome: TurnOutcome): EndedRun {
  const facts = factsOf(outcome) ?? { ownKey: false };
  return { run, message, failure: run.error === null ? null : { error: run.error, facts } };
}

function factsOf(outcome: TurnOutcome): FailureFacts | undefined {
  return outcome.status === 'failed' || outcome.status === 'timed_out' ? outcome.facts : undefined;
}
