import { Injectable } from '@nestjs/common';
import { creditsFor, findModel } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, DatabaseUnavailable } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { NEVER_ASKED } from '../domain/approval.js';
import type { Message, MessageStatus, HistoryMessage } from '../domain/message.js';
import { errorOf, type FailureFacts, type Run, type RunError, type RunOutcome } from '../domain/run.js';
import { titleOf } from '../domain/thread.js';
import { RunAborted } from '../domain/run-abort.js';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { type EndNotes, RunRepository } from '../persistence/run.repository.js';
import type { FinishedRun } from '../ports/index.js';
import { bytesOf, HistoryCache, type CachedHistory } from './history-cache.js';
import { RunObservers } from './run-observers.js';
import { RunOwner } from './run-owner.js';
import { STORE_AGAIN_MS, STORE_PAUSE_MS, STORE_REFUSALS, STORE_TRIES } from './limits.js';
import type { RunState } from './run-state.js';

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
 * Last phase of a run: its end in one statement: message, run, and what the observers keep. What
 * a caller is told has been stored by then.
 */
@Injectable()
export class PersistRun {
  constructor(
    private readonly database: Database,
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly recent: HistoryCache,
    private readonly owner: RunOwner,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly observers: RunObservers,
  ) {}

  async run(state: RunState, outcome: RunOutcome): Promise<EndedRun> {
    const finished = this.finishedRun(state, outcome);
    const notes = { facts: factsOf(outcome), keptResults: state.conversation.keptResults };
    try {
      const revision = await this.insisting(() => this.store(finished, notes));
      if (revision !== null && state.tail) {
        this.recent.keep(finished.run.threadId, revision, extended(state.tail, state, finished));
      }
      // Deleted with its thread or agent: no row is left that an end could be stored in.
      if (revision !== null || wasDeleted(state)) {
        this.observers.tellEnded(finished);
        return ended(finished, outcome);
      }
      const stored = await this.storedEnd(finished.run);
      if (stored) {
        this.observers.tellEnded(finished);
        return stored;
      }
      this.logger.warn({ runId: finished.run.id }, 'The run was ended by another process');
    } catch (error) {
      this.logger.error({ err: error, runId: finished.run.id }, 'The end of a run could not be stored; trying again');
      this.storeLater(asInternal(finished));
    }
    return ended(asInternal(finished), outcome);
  }

  /** @returns null when the run is no longer this process's to end */
  private async store(
    finished: FinishedRun,
    notes: Pick<EndNotes, 'facts' | 'keptResults'> = {},
    records = this.observers.recordsOf(finished),
  ): Promise<number | null> {
    const { run, message, userMessage } = finished;
    const answered = run.status === 'completed' || run.status === 'requires_action';
    const title = answered && userMessage ? titleOf(userMessage.text) : null;
    return this.runs.finish(this.database, run, this.owner.id, message, { ...notes, title, records });
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
   * Tries a few times before the caller is told that the run failed: a moment without a free connection must not turn a
   * completed run into a failed one, and a database that is down must show within seconds.
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
   * The thread stays busy until this succeeds, because its last run is not stored. Nothing is left to do where the end is
   * found stored already, by a statement whose answer was lost or by another process. A database that answers and
   * refuses the end again and again is sent it without the observers' records, which may be the cause: a defect of an
   * observer must not keep the thread busy for ever.
   */
  private storeLater(finished: FinishedRun, refusals = 0): void {
    const { id } = finished.run;
    this.owner.unsettled.add(id);
    this.clock.after(STORE_AGAIN_MS, () => {
      // A heartbeat has found that there is nothing left to end.
      if (!this.owner.unsettled.has(id)) {
        this.tellStored(finished).catch((error: unknown) => {
          this.logger.warn({ err: error, runId: id }, 'How a run ended could not be read');
        });
        return;
      }
      this.storeOnce(finished, refusals < STORE_REFUSALS).then(
        () => this.owner.unsettled.delete(id),
        (error: unknown) => {
          const refused = !(error instanceof DatabaseUnavailable);
          if (refused) this.logger.error({ err: error, runId: id }, 'The database refuses the end of a run');
          this.storeLater(finished, refused ? refusals + 1 : refusals);
        },
      );
    });
  }

  private async storeOnce(finished: FinishedRun, recorded: boolean): Promise<void> {
    const revision = await (recorded ? this.store(finished) : this.store(finished, {}, []));
    if (revision === null) await this.tellStored(finished);
    else this.observers.tellEnded(finished);
  }

  /** A statement of before, whose answer was lost, may have stored the end. Another process tells of its own ones. */
  private async tellStored(finished: FinishedRun): Promise<void> {
    const stored = await this.storedEnd(finished.run);
    if (stored) this.observers.tellEnded({ ...finished, run: stored.run, message: stored.message });
  }

  private finishedRun(state: RunState, outcome: RunOutcome): FinishedRun {
    const { context } = state;
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
        usage: usageOf(state),
        error: errorOf(outcome),
        approvals: outcome.status === 'requires_action' ? outcome.approvals : [],
        stopReason: state.stopReason,
      },
      agent: { ...context.agent.provider, provider: context.agent.provider.type },
      channel: context.channel,
      userMessage: context.userMessage,
      decisions: context.decisions,
      message: messageOf(state, outcome),
      userContext: context.userContext,
      userKey: context.userKey,
      callerSpan: context.callerSpan,
      steps: state.steps,
      latencyMs: elapsedMs(),
      timeToFirstTokenMs: state.timeToFirstTextMs,
    };
  }
}

/** The wall clock may have been set back while the run was under way. */
function notBefore(earliest: Date, now: Date): Date {
  return now < earliest ? earliest : now;
}

function wasDeleted({ context: { signal } }: RunState): boolean {
  const cause = signal.reason instanceof RunAborted ? signal.reason.abortCause : undefined;
  return cause === 'agent_deleted' || cause === 'thread_deleted';
}

function messageOf(state: RunState, outcome: RunOutcome): Message | null {
  const isWhole = outcome.status === 'completed' || outcome.status === 'requires_action';
  const status: MessageStatus = isWhole ? 'completed' : 'incomplete';
  return state.message(status, outcome);
}

/** The thread as the run leaves it. */
function extended(
  { messages, before, bytes }: CachedHistory,
  state: RunState,
  { message }: FinishedRun,
): CachedHistory {
  const added = [...questionOf(state), ...(message === null ? [] : [message])];
  return { messages: [...messages, ...added], before, bytes: bytes + bytesOf(added) };
}

function questionOf({ context: { runId, userMessage }, promptContext: additionalContext }: RunState): HistoryMessage[] {
  if (userMessage === null) return [];
  const { id, text: content, attachments = [] } = userMessage;
  const beside = {
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(additionalContext.length === 0 ? {} : { additionalContext }),
  };
  return [{ id, runId, role: 'user', content, blocked: false, toolCalls: [], transcript: [], ...beside }];
}

function usageOf(state: RunState): Run['usage'] {
  const { inputTokens, outputTokens } = state.totalUsage;
  const { provider } = state.context.agent;
  const model = findModel(provider.type, provider.model);
  const credits = provider.useOwnApiKey || !model ? 0 : creditsFor(model, state.chargedUsage);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
    credits,
  };
}

/** A run whose end could not be stored is told as failed inside the service, never as done. */
function asInternal(finished: FinishedRun): FinishedRun {
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

/** Without a stored end nobody can approve, so no call may be told as waiting. */
function unfinished(message: Message): Message {
  const toolCalls = message.toolCalls.map((call) =>
    call.status === 'awaiting_approval' ? { ...call, status: 'denied' as const, output: NEVER_ASKED } : call,
  );
  return { ...message, status: 'incomplete', toolCalls };
}

function ended({ run, message }: FinishedRun, outcome: RunOutcome): EndedRun {
  const facts = factsOf(outcome) ?? { ownKey: false };
  return { run, message, failure: run.error === null ? null : { error: run.error, facts } };
}

function factsOf(outcome: RunOutcome): FailureFacts | undefined {
  return outcome.status === 'failed' || outcome.status === 'timed_out' ? outcome.facts : undefined;
}
