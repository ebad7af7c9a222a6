import { Injectable } from '@nestjs/common';
import {
  Database,
  isUniqueViolation,
  rowsByTable,
  type SqlExecutor,
  type TableRow,
  toDate,
} from '../../platform/database/index.js';
import { UnreadableJson } from '../../platform/stored-json/index.js';
import type { ProviderType } from '../../models/index.js';
import type { ApprovalDecision } from '../domain/approval.js';
import type { Message, ResultEntry } from '../domain/message.js';
import { type Run, RunNotStarted, type RunReference } from '../domain/run.js';
import { RunAborted } from '../domain/run-abort.js';
import type { RunUser } from '../domain/user-key.js';
import type { Channel } from '../domain/thread.js';
import { CONTACT_GAP_SECONDS } from '../engine/limits.js';
import { RunOwner } from '../engine/run-owner.js';
import {
  CHECKPOINT,
  type EndNotes,
  endParameters,
  finishRun,
  KEEP_CONTEXT,
  KEEP_JUDGMENTS,
  KEEP_REPLY,
  keptRows,
  messageParameters,
} from './end-run.sql.js';
import { FIND_KEPT_RESULTS, REMOVE_KEPT_RESULTS, REMOVE_OLD_KEPT_RESULTS } from './kept-results.sql.js';
import { findMessage } from './message.repository.js';
import { type RunUserRow, toRunUser } from './run-user.js';
import type { NewRun, RunModel } from './new-run.js';
import {
  BEAT,
  REMOVE_SILENT_OWNERS,
  RETIRE_OWNER,
  START_HEARTBEAT,
  TAKE_ORPHAN,
  TAKE_OVER,
} from './run-ownership.sql.js';
import { LATE_STARTS, START_RUN, type StartedRow, startParameters } from './start-run.sql.js';
import { DECISIONS, KEPT_RESULTS } from './conversations.entities.js';

type RunKey = Pick<RunReference, 'organizationId' | 'runId'>;

/** The verdict of hooks on a message of a sent history. */
export interface JudgedMessage {
  readonly id: string;
  readonly blocked: boolean;
  readonly context: readonly string[] | null;
}

export interface StartedRun {
  readonly channel: Channel;
  readonly isFirstRun: boolean;
  /** Of the thread before the run; null when the start itself has changed messages of the thread, and when it is not known. */
  readonly revision: number | null;
}

export interface LateStartedRun extends StartedRun {
  /** A user has asked to cancel it meanwhile. */
  readonly isCancelled: boolean;
}

export interface Heartbeat {
  /** The id of the unbroken contact that the heartbeat belongs to. */
  readonly contact: string;
  /**
   * Those of the given runs that still exist. `owned`: running, and still this process's. `cancelled`: a user has asked
   * for cancellation.
   */
  readonly runs: ReadonlyMap<string, { readonly owned: boolean; readonly cancelled: boolean }>;
}

/** A process's knowledge of its own runs. */
export interface OwnRuns {
  /** Under way, or ended with the end not stored yet. */
  readonly known: readonly string[];
  /** Failed to start, for all that the process knows. */
  readonly lost: readonly string[];
  /** The process may not know its runs that were stored later: their start may still be under way. */
  readonly before: Date;
  /** Of the last heartbeat; the process takes runs of others only while this contact lasts. Null when it has none. */
  readonly contact: string | null;
}

/** A run whose process died, as stored. */
export interface OrphanedRun {
  readonly run: Run;
  readonly channel: Channel;
  readonly user: RunUser;
  readonly userMessage: { readonly id: string; readonly text: string } | null;
  readonly decisions: readonly ApprovalDecision[] | null;
  readonly message: Message | null;
  readonly agent: RunModel;
  /** The thread or the agent was deleted, and its rows are removed later. */
  readonly isDeleted: boolean;
  /** Stored JSON that cannot be read; the message or the decisions are then null. */
  readonly unreadable: readonly UnreadableJson[];
}

interface HeartbeatRow {
  contact: string;
  id: string | null;
  owned: boolean;
  cancelled: boolean;
}

interface LateStartRow {
  id: string;
  channel: Channel;
  is_first: boolean;
  cancelled: boolean;
}

interface OrphanRow extends RunUserRow {
  id: string;
  organization_id: string;
  thread_id: string;
  agent_id: string;
  message_id: string;
  created_at: string;
  channel: Channel;
  user_message_id: string | null;
  user_text: string | null;
  is_deleted: boolean;
  decisions: unknown;
  provider: ProviderType;
  model: string;
  use_own_api_key: boolean;
}

@Injectable()
export class RunRepository {
  constructor(
    private readonly database: Database,
    private readonly owner: RunOwner,
  ) {}

  /**
   * Stores the run and the user's message in one statement, and so in one transaction. The unique index on running runs
   * refuses a second run on the thread. Calls of the previous run that wait for approval get the answers of the resume
   * input, or are declined.
   * @throws RunNotStarted
   */
  async start(organizationId: string, run: NewRun, executor: SqlExecutor = this.database): Promise<StartedRun> {
    for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
      const result = await this.tryStart(organizationId, run, executor);
      if (result) return result;
    }
    throw new RunNotStarted('thread_busy');
  }

  /** @returns null when another run has started or ended on the thread since the statement began */
  private async tryStart(organizationId: string, run: NewRun, executor: SqlExecutor): Promise<StartedRun | null> {
    const parameters = startParameters(organizationId, run, this.owner.id);
    const [row] = await START_RUN.run<StartedRow>(executor, parameters).catch((error: unknown) => {
      // With the second, another run has started and ended since this statement began.
      const isBusy = ['runs_one_running_a_thread', 'runs_answer_a_run_once'].some((index) =>
        isUniqueViolation(error, index),
      );
      throw isBusy ? new RunNotStarted('thread_busy') : error;
    });
    if (!row) throw new RunNotStarted('thread_absent');
    if (row.started) return { channel: row.channel, isFirstRun: row.is_first, revision: revisionBefore(row) };
    if (!row.current) return null;
    if (row.capped) throw new RunNotStarted('session_capped');
    throw new RunNotStarted(row.open ? 'repeated' : 'answered');
  }

  /** Those of the given runs of this process that are stored as running, as their starts would have returned them. */
  async findLateStarts(runIds: readonly string[]): Promise<ReadonlyMap<string, LateStartedRun>> {
    const rows = await LATE_STARTS.run<LateStartRow>(this.database, { ownerId: this.owner.id, runIds });
    return new Map(
      rows.map(({ id, channel, is_first: isFirstRun, cancelled: isCancelled }) => [
        id,
        { channel, isFirstRun, revision: null, isCancelled },
      ]),
    );
  }

  /** Call before something that cannot be undone. @throws RunAborted `lost_ownership` */
  async checkpoint({ organizationId, runId }: RunKey, message: Message): Promise<void> {
    const run = { organizationId, runId, threadId: message.threadId, ownerId: this.owner.id };
    assertOwned(await CHECKPOINT.run(this.database, { ...run, ...messageParameters(message) }));
  }

  /** Stores the contexts that hooks add to the run's message. @throws RunAborted `lost_ownership` */
  async keepContext(
    { organizationId, runId }: RunKey,
    messageId: string,
    additionalContext: readonly string[],
  ): Promise<void> {
    const parameters = { organizationId, runId, ownerId: this.owner.id, messageId, additionalContext };
    assertOwned(await KEEP_CONTEXT.run(this.database, parameters));
  }

  /** Stores the verdicts of hooks on the sent history. @throws RunAborted `lost_ownership` */
  async keepJudgments({ organizationId, runId }: RunKey, judged: readonly JudgedMessage[]): Promise<void> {
    assertOwned(await KEEP_JUDGMENTS.run(this.database, { organizationId, runId, ownerId: this.owner.id, judged }));
  }

  /** @returns the thread's new revision; null when the run was deleted or another process has ended it */
  finish(run: Run, message: Message | null, notes: EndNotes): Promise<number | null> {
    return this.storeEnd(this.database, this.owner.id, run, message, notes);
  }

  /** Stores the message of a run that another process has ended as failed, if no run has begun on the thread since. */
  async keepReply({ organizationId, id: runId, threadId }: Run, message: Message): Promise<void> {
    const run = { organizationId, runId, threadId, ownerId: SYSTEM_OWNER_ID };
    await KEEP_REPLY.run(this.database, { ...run, ...messageParameters(message) });
  }

  async findKeptResults(organizationId: string, runId: string): Promise<readonly ResultEntry[]> {
    const rows = await FIND_KEPT_RESULTS.run<{ kept: unknown }>(this.database, { organizationId, runId });
    return KEPT_RESULTS.readNullable(rows[0]?.kept, runId) ?? [];
  }

  async removeKeptResults(organizationId: string, runId: string): Promise<void> {
    await REMOVE_KEPT_RESULTS.run(this.database, { organizationId, runId });
  }

  /** @returns of how many runs; 0 means that none is left */
  async removeOldKeptResults(endedBefore: Date): Promise<number> {
    return (await REMOVE_OLD_KEPT_RESULTS.run(this.database, { endedBefore })).length;
  }

  /** @returns the contact, as a `Heartbeat` names it */
  async startHeartbeat(): Promise<string> {
    return contactOf(await START_HEARTBEAT.run<HeartbeatRow>(this.database, { ownerId: this.owner.id }));
  }

  /**
   * The result lacks runs whose thread or agent was deleted. An owner that was removed, since its process was suspended
   * for too long, is inserted again and owns no runs.
   */
  async beat(runIds: readonly string[]): Promise<Heartbeat> {
    const parameters = { ownerId: this.owner.id, gapSeconds: CONTACT_GAP_SECONDS, runIds };
    const rows = await BEAT.run<HeartbeatRow>(this.database, parameters);
    const runs = rows.flatMap(({ id, owned, cancelled }) => (id === null ? [] : [[id, { owned, cancelled }] as const]));
    return { contact: contactOf(rows), runs: new Map(runs) };
  }

  async retireOwner(): Promise<void> {
    await RETIRE_OWNER.run(this.database, { ownerId: this.owner.id });
  }

  /**
   * Reads and locks one run without a living owner: the owner has been silent for `silentSeconds`, or is the caller,
   * which does not know the run. A caller whose own heartbeat is old gets no run of another owner. Call inside the
   * transaction that ends the run.
   */
  async takeOrphan(executor: SqlExecutor, silentSeconds: number, own: OwnRuns): Promise<OrphanedRun | null> {
    const limits = { silentSeconds, heardWithinSeconds: CONTACT_GAP_SECONDS };
    const parameters = { ownerId: this.owner.id, ...limits, ...own };
    const [row] = await TAKE_ORPHAN.run<OrphanRow>(executor, parameters);
    return row ? toOrphan(executor, row) : null;
  }

  async finishOrphan(
    executor: SqlExecutor,
    run: Run,
    message: Message | null,
    records: readonly TableRow[],
  ): Promise<void> {
    await TAKE_OVER.run(executor, { runId: run.id, ownerId: SYSTEM_OWNER_ID });
    await this.storeEnd(executor, SYSTEM_OWNER_ID, run, message, { records });
  }

  async removeSilentOwners(silentSeconds: number): Promise<void> {
    await REMOVE_SILENT_OWNERS.run(this.database, { silentSeconds });
  }

  private async storeEnd(
    executor: SqlExecutor,
    ownerId: string,
    run: Run,
    message: Message | null,
    notes: EndNotes,
  ): Promise<number | null> {
    const kept = rowsByTable(this.database.orm, notes.records ?? []);
    const [thread] = await finishRun(kept).run<{ revision: number }>(executor, {
      ...{ organizationId: run.organizationId, threadId: run.threadId, runId: run.id, ownerId },
      ...messageParameters(message),
      ...endParameters(run, notes),
      ...keptRows(kept),
    });
    return thread?.revision ?? null;
  }
}

function assertOwned(rows: readonly unknown[]): void {
  if (rows.length === 0) throw new RunAborted('lost_ownership');
}

/** Each further attempt means that another run came in between; after so many the thread counts as busy. */
const START_ATTEMPTS = 5;

/** The owner of runs that are being ended for a dead process. */
const SYSTEM_OWNER_ID = '00000000-0000-0000-0000-000000000000';

/** Calls that waited for approval have a new status now, so a cached history is outdated. */
function revisionBefore({ answers, revision }: StartedRow): number | null {
  return answers ? null : revision - 1;
}

function contactOf(rows: readonly HeartbeatRow[]): string {
  const [row] = rows;
  if (!row) throw new Error('A heartbeat was not stored');
  return row.contact;
}

/**
 * Leaves out stored JSON that cannot be read: the run must end all the same, and must not keep other runs from ending.
 */
async function toOrphan(executor: SqlExecutor, row: OrphanRow): Promise<OrphanedRun> {
  const unreadable: UnreadableJson[] = [];
  const leaveOut = (error: unknown): null => {
    if (!(error instanceof UnreadableJson)) throw error;
    unreadable.push(error);
    return null;
  };
  const readDecisions = async (): Promise<OrphanedRun['decisions']> => DECISIONS.readNullable(row.decisions, row.id);
  return {
    unreadable,
    isDeleted: row.is_deleted,
    run: {
      id: row.id,
      organizationId: row.organization_id,
      threadId: row.thread_id,
      agentId: row.agent_id,
      status: 'running',
      createdAt: toDate(row.created_at),
      completedAt: null,
      usage: { inputTokens: null, outputTokens: null, totalTokens: null, cachedInputTokens: null, credits: 0 },
      error: null,
      approvals: [],
    } satisfies Run,
    channel: row.channel,
    user: toRunUser(row),
    userMessage: row.user_message_id === null ? null : { id: row.user_message_id, text: row.user_text ?? '' },
    decisions: await readDecisions().catch(leaveOut),
    message: await findMessage(executor, row.message_id).catch(leaveOut),
    agent: { provider: row.provider, model: row.model, useOwnApiKey: row.use_own_api_key },
  };
}
