import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ENDED_BEFORE_APPROVAL, ENDED_BEFORE_CALLER } from '../domain/approval.js';
import { changedCalls, type HistoryMessage, type Message } from '../domain/message.js';
import { outcomeError, type FailureFacts, type Run, type RunError, type RunOutcome } from '../domain/run.js';
import type { RunContinuation } from '../domain/run-options.js';
import { titleOf } from '../domain/thread.js';
import { RunAborted } from '../domain/run-abort.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import type { EndNotes } from '../persistence/end-run.sql.js';
import { RunRepository } from '../persistence/run.repository.js';
import type { FinishedRun } from '../ports/index.js';
import { estimateBytes, HistoryCache, type CachedHistory } from './history-cache.js';
import { RunObservers } from './run-observers.js';
import { RunOwner } from './run-owner.js';
import { creditsOf, usedSoFar } from './run-budget.js';
import { STORE_AGAIN_MS, STORE_PAUSE_MS, STORE_REFUSALS, STORE_ATTEMPTS } from './limits.js';
import type { RunState } from './run-state.js';

export interface EndedRun {
  readonly run: Run;
  readonly message: Message | null;
  readonly failure: { readonly error: RunError; readonly facts: FailureFacts } | null;
}

export function toEndedRun({ run, message, facts }: Pick<StoredRun, 'run' | 'message' | 'facts'>): EndedRun {
  return { run, message, failure: run.error === null ? null : { error: run.error, facts } };
}

/**
 * Last phase of a run: stores its end, with message, run and the observers' rows in one statement. Callers and readers
 * learn of the end only after it was stored.
 */
@Injectable()
export class PersistRun {
  constructor(
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly cache: HistoryCache,
    private readonly owner: RunOwner,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly observers: RunObservers,
  ) {}

  async run(state: RunState, outcome: RunOutcome): Promise<EndedRun> {
    const finished = this.finishedRun(state, outcome);
    const notes = {
      facts: factsOf(outcome),
      keptResults: state.conversation.keptResults,
      continuation: continuationOf(state, outcome),
    };
    try {
      const revision = await this.withRetries(() => this.store(finished, notes));
      if (revision !== null && state.history) {
        this.cache.set(finished.run.threadId, revision, extended(state.history, state, finished));
      }
      // A run that was deleted with its thread or agent has no row any more.
      if (revision !== null || wasDeleted(state)) {
        this.observers.notifyEnded(finished);
        return ended(finished, outcome);
      }
      const stored = await this.storedEnd(finished.run);
      if (stored) {
        this.observers.notifyEnded(finished);
        return stored;
      }
      this.logger.warn({ runId: finished.run.id }, 'The run was ended by another process');
    } catch (error) {
      this.logger.error(
        { err: error, runId: finished.run.id },
        'The end of a run could not be stored; it will be tried again',
      );
      this.storeLater(asInternalFailure(finished));
    }
    return ended(asInternalFailure(finished), outcome);
  }

  private async store(
    finished: FinishedRun,
    notes: Pick<EndNotes, 'facts' | 'keptResults' | 'continuation'> = {},
    records = this.observers.recordsOf(finished),
  ): Promise<number | null> {
    const { run, message, userMessage } = finished;
    const answered = run.status === 'completed' || run.status === 'requires_action';
    const title = answered && userMessage ? titleOf(userMessage.text) : null;
    return this.runs.finish(run, message, { ...notes, title, records });
  }

  /**
   * The end that this process has stored, when the statement succeeded but its response was lost with the connection.
   * Null when another process has ended the run. The cached history needs no change: its revision is outdated.
   */
  private async storedEnd({ organizationId, threadId, id }: Run): Promise<EndedRun | null> {
    const stored = await this.withRetries(() => this.reader.find(organizationId, threadId, id));
    return stored?.ownerId === this.owner.id && stored.run.status !== 'running' ? toEndedRun(stored) : null;
  }

  /**
   * Retries a few times: a moment without a free connection must not turn a completed run into a failed one, and the
   * caller must learn of an unreachable database within seconds.
   */
  private async withRetries<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || count === STORE_ATTEMPTS) throw error;
        await this.clock.sleep(STORE_PAUSE_MS);
      }
    }
  }

  /**
   * Stores the end in the background; the thread is busy until this succeeds. Stops when the end is stored already, by
   * a statement whose response was lost or by another process. When the database refuses the end repeatedly, it is
   * stored without the observers' rows, and after as many further refusals without the message: neither a defect of an
   * observer nor a message that cannot be stored must keep the thread busy.
   */
  private storeLater(finished: FinishedRun, refusals = 0): void {
    const { id } = finished.run;
    this.owner.unsettled.add(id);
    this.clock.after(STORE_AGAIN_MS, () => {
      // The heartbeat has found that the run needs no end any more.
      if (!this.owner.unsettled.has(id)) {
        this.notifyStored(finished).catch((error: unknown) => {
          this.logger.warn({ err: error, runId: id }, 'The end of a run could not be read');
        });
        return;
      }
      this.storeOnce(refusals < 2 * STORE_REFUSALS ? finished : { ...finished, message: null }, refusals).then(
        () => this.owner.unsettled.delete(id),
        (error: unknown) => {
          const refused = !(error instanceof DatabaseUnavailable);
          if (refused) this.logger.error({ err: error, runId: id }, 'The database refuses the end of a run');
          this.storeLater(finished, refused ? refusals + 1 : refusals);
        },
      );
    });
  }

  private async storeOnce(finished: FinishedRun, refusals: number): Promise<void> {
    const revision = await (refusals < STORE_REFUSALS ? this.store(finished) : this.store(finished, {}, []));
    if (revision === null) await this.notifyStored(finished);
    else this.observers.notifyEnded(finished);
  }

  /** Notifies the observers when an earlier statement of this process, whose response was lost, has stored the end. */
  private async notifyStored(finished: FinishedRun): Promise<void> {
    const stored = await this.storedEnd(finished.run);
    if (stored) this.observers.notifyEnded({ ...finished, run: stored.run, message: stored.message });
  }

  private finishedRun(state: RunState, outcome: RunOutcome): FinishedRun {
    const { context } = state;
    const { startedAt, elapsedMs } = context.stopwatch;
    const isWhole = outcome.status === 'completed' || outcome.status === 'requires_action';
    return {
      run: {
        id: context.runId,
        organizationId: context.organizationId,
        threadId: context.threadId,
        agentId: context.agent.id,
        status: outcome.status,
        createdAt: startedAt,
        completedAt: notBefore(startedAt, this.clock.now()),
        usage: usageOf(state),
        error: outcomeError(outcome),
        approvals: outcome.status === 'requires_action' ? outcome.approvals : [],
        stopReason: state.stopReason,
      },
      agent: { ...context.agent.provider, provider: context.agent.provider.type },
      channel: context.channel,
      userMessage: context.userMessage,
      decisions: context.decisions,
      message: state.message(isWhole ? 'completed' : 'incomplete', outcome),
      userContext: context.userContext,
      userKey: context.userKey,
      callerSpan: context.callerSpan,
      steps: state.steps,
      latencyMs: elapsedMs(),
      timeToFirstTokenMs: state.timeToFirstTextMs,
    };
  }
}

/** The clock may have been set back during the run. */
function notBefore(earliest: Date, now: Date): Date {
  return now < earliest ? earliest : now;
}

function wasDeleted({ context: { signal } }: RunState): boolean {
  const cause = signal.reason instanceof RunAborted ? signal.reason.abortCause : undefined;
  return cause === 'agent_deleted' || cause === 'thread_deleted';
}

/** The thread's newest messages, with those of the run. */
function extended(
  { messages, before, bytes }: CachedHistory,
  state: RunState,
  { message }: FinishedRun,
): CachedHistory {
  const added = [...userHistoryMessage(state), ...(message === null ? [] : [message])];
  return { messages: [...messages, ...added], before, bytes: bytes + estimateBytes(added) };
}

function userHistoryMessage({
  context: { runId, userMessage },
  promptContext: additionalContext,
}: RunState): HistoryMessage[] {
  if (userMessage === null) return [];
  const { id, text: content, attachments = [] } = userMessage;
  const optional = {
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(additionalContext.length === 0 ? {} : { additionalContext }),
  };
  return [{ id, runId, role: 'user', content, blocked: false, toolCalls: [], transcript: [], ...optional }];
}

/** Null unless another run may resume this one. */
function continuationOf(state: RunState, { status }: RunOutcome): RunContinuation | null {
  return status === 'requires_action' ? { options: state.context.options, used: usedSoFar(state) } : null;
}

function usageOf(state: RunState): Run['usage'] {
  const { inputTokens, outputTokens, cachedInputTokens = null } = state.usage;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
    // A part of an unknown total would be compared with nothing.
    cachedInputTokens: inputTokens === null ? null : cachedInputTokens,
    credits: creditsOf(state),
  };
}

function asInternalFailure(finished: FinishedRun): FinishedRun {
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

/** Without a stored end the requests for approval do not exist, so no call may wait for one. */
function unfinished(message: Message): Message {
  const approvals = changedCalls(message, 'awaiting_approval', { status: 'denied', output: ENDED_BEFORE_APPROVAL });
  const ofCaller = { status: 'denied', output: ENDED_BEFORE_CALLER } as const;
  const toolCalls = changedCalls({ toolCalls: approvals }, 'awaiting_result', ofCaller);
  return { ...message, status: 'incomplete', toolCalls };
}

function ended({ run, message }: FinishedRun, outcome: RunOutcome): EndedRun {
  return toEndedRun({ run, message, facts: factsOf(outcome) ?? { ownKey: false } });
}

function factsOf(outcome: RunOutcome): FailureFacts | undefined {
  return outcome.status === 'failed' || outcome.status === 'timed_out' ? outcome.facts : undefined;
}
