import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ENDED_BEFORE_APPROVAL, ENDED_BEFORE_CALLER } from '../domain/approval.js';
import { type FailureCause, failureCause } from '../domain/failure-cause.js';
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
import { DatabaseOutage } from './database-outage.js';
import { STORE_AGAIN_MS, STORE_REFUSALS } from './limits.js';
import { STOPPING } from './resolve-failure.js';
import type { RunState } from './run-state.js';

const NOT_STORED: RunError = { code: 'internal', message: 'The service could not store the end of this run.' };

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
 * learn of the end only after it was stored, which an unreachable database delays (`DatabaseOutage`).
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
    private readonly outage: DatabaseOutage,
  ) {}

  async run(state: RunState, outcome: RunOutcome): Promise<EndedRun> {
    const finished = this.finishedRun(state, outcome);
    const notes = {
      facts: factsOf(outcome),
      keptResults: state.conversation.keptResults,
      continuation: continuationOf(state, outcome),
    };
    const waiting = { characters: () => charactersOf(finished, notes), notify: state.showOutage };
    try {
      const end = await this.outage.outlast(waiting, () => this.storeOrFind(state, finished, notes));
      if (end === 'stored') return ended(finished, outcome);
      if (end === 'deleted') return ended(asCancelled(finished), { status: 'cancelled' });
      if (end) return end;
      this.logger.warn({ runId: finished.run.id }, 'The run was ended by another process');
    } catch (error) {
      this.logger.error(
        { err: error, runId: finished.run.id },
        'The end of a run could not be stored; it will be tried again',
      );
      this.storeLater(asFailure(finished, this.outage.isStopped ? STOPPING : NOT_STORED));
    }
    return ended(asFailure(finished, this.outage.isStopped ? STOPPING : NOT_STORED), outcome);
  }

  /**
   * @returns the end that is stored if it is not the given one; `deleted` when the thread or the agent was deleted; null when
   * another process has ended the run
   */
  private async storeOrFind(
    state: RunState,
    finished: FinishedRun,
    notes: EndNotes,
  ): Promise<EndedRun | 'stored' | 'deleted' | null> {
    const revision = await this.store(finished, notes);
    if (revision !== null) {
      if (state.history) this.cache.set(finished.run.threadId, revision, extended(state.history, state, finished));
      this.observers.notifyEnded(finished);
      return 'stored';
    }
    const end = wasDeleted(state) ? 'deleted' : await this.storedEnd(finished);
    if (end === 'deleted') await this.storeDeleted(asCancelled(finished));
    else if (end) this.observers.notifyEnded(finished);
    // A reply that was cut off by the loss of the run is no better than what the other process found.
    else if (finished.message?.status === 'completed') await this.keepReply(finished);
    return end;
  }

  /** The row of a deleted run may be there for some time. */
  private async storeDeleted(cancelled: FinishedRun): Promise<void> {
    await this.store(cancelled);
    this.observers.notifyEnded(cancelled);
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
   * Null when another process has ended the run; `deleted` when the thread or the agent was deleted since this process
   * looked last. The cached history needs no change: its revision is outdated.
   */
  private async storedEnd({
    run: { organizationId, threadId, id },
  }: FinishedRun): Promise<EndedRun | 'deleted' | null> {
    const stored = await this.reader.find(organizationId, threadId, id);
    if (!stored?.threadExists) return 'deleted';
    return stored.ownerId === this.owner.id && stored.run.status !== 'running' ? toEndedRun(stored) : null;
  }

  /** For the readers of the thread: the run stays failed, as others know it. */
  private async keepReply({ run, message }: FinishedRun): Promise<void> {
    if (message) await this.runs.keepReply(run, unfinished(message));
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
        this.outage
          .outlast({}, () => this.notifyStored(finished))
          .catch((error: unknown) => {
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

  /** Notifies the observers when an earlier statement of this process, whose response was lost, has stored the end; keeps the message when another process has. */
  private async notifyStored(finished: FinishedRun): Promise<void> {
    const stored = await this.storedEnd(finished);
    if (!stored) await this.keepReply(finished);
    if (!stored || stored === 'deleted') return;
    this.observers.notifyEnded({ ...finished, run: stored.run, message: stored.message });
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
      failureCause: causeOf(state, outcome),
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

function asFailure(finished: FinishedRun, error: RunError): FinishedRun {
  return {
    ...finished,
    run: { ...finished.run, status: 'failed', error, approvals: [] },
    failureCause: 'operator',
    message: finished.message === null ? null : unfinished(finished.message),
  };
}

/** What an end keeps in memory, and a little more: the text as it is stored. */
function charactersOf({ message, steps }: FinishedRun, { keptResults }: EndNotes): number {
  return JSON.stringify([message, steps, keptResults]).length;
}

function asCancelled(finished: FinishedRun): FinishedRun {
  const { run, message } = finished;
  return {
    ...finished,
    run: { ...run, status: 'cancelled', error: null, approvals: [] },
    message: message === null ? null : unfinished(message),
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

function causeOf({ context, route }: RunState, outcome: RunOutcome): FailureCause | null {
  const [error, facts] = [outcomeError(outcome), factsOf(outcome)];
  const isOwn = context.agent.provider.useOwnApiKey || route !== undefined;
  return error && facts ? failureCause(error, facts, isOwn ? 'own' : 'managed') : null;
}

function factsOf(outcome: RunOutcome): FailureFacts | undefined {
  return outcome.status === 'failed' || outcome.status === 'timed_out' ? outcome.facts : undefined;
}
