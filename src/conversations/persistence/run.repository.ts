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
import type { FailureFacts, Run } from '../domain/run.js';
import type { RunUser } from '../domain/user-key.js';
import type { Channel } from '../domain/thread.js';
import { CONTACT_GAP_SECONDS } from '../engine/limits.js';
import {
  CHECKPOINT,
  endParameters,
  finishRun,
  KEEP_CONTEXT,
  KEEP_JUDGMENTS,
  keptRows,
  messageParameters,
} from './end-run.sql.js';
import { REMOVE_OLD_KEPT_RESULTS, TAKE_KEPT_RESULTS } from './kept-results.sql.js';
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
import { START_RUN, type StartedRow, startParameters } from './start-run.sql.js';
import { DECISIONS, KEPT_RESULTS } from './conversations.entities.js';

/** A run with the process that must still own it for a write to happen. */
export interface OwnedRun {
  readonly runId: string;
  readonly organizationId: string;
  readonly ownerId: string;
}

/** The verdict of hooks on a message of a sent history. */
export interface JudgedMessage {
  readonly id: string;
  /** Models do not get the message. */
  readonly blocked: boolean;
  readonly context: readonly string[] | null;
}

/** What is stored with the end of a run besides the run itself. */
export interface EndNotes {
  /** For a thread without a title. */
  readonly title?: string | null;
  /** A repeated request gets these besides the error. */
  readonly facts?: FailureFacts;
  /** The run that continues this run's calls gets these besides the transcript. */
  readonly keptResults?: readonly ResultEntry[];
  /** The rows of the run's observers. */
  readonly records?: readonly TableRow[];
}

/** `revision`: of the thread before the run; null when the start itself has changed messages of the thread. */
export type StartResult =
  | {
      readonly started: true;
      readonly channel: Channel;
      readonly isFirstRun: boolean;
      readonly revision: number | null;
    }
  /** `answered`: the requests that the run answers are no longer open. */
  | {
      readonly started: false;
      readonly because: 'thread_absent' | 'thread_busy' | 'repeated' | 'answered' | 'session_capped';
    };

/** What the database returns for a heartbeat. */
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
  readonly ownerId: string;
  /** Under way, or ended with the end not stored yet. */
  readonly known: readonly string[];
  /** The process may not know runs that were stored later. */
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
  /** Stored JSON that cannot be read; the message or the decisions are then null. */
  readonly unreadable: readonly UnreadableJson[];
}

interface HeartbeatRow {
  contact: string;
  id: string | null;
  owned: boolean;
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
  decisions: unknown;
  provider: ProviderType;
  model: string;
  use_own_api_key: boolean;
}

@Injectable()
export class RunRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores the run and the user's message in one statement, and so in one transaction. The unique index on running runs
   * refuses a second run on the thread. Calls of the previous run that wait for approval get the answers of the resume
   * input, or are declined.
   */
  async start(organizationId: string, run: NewRun, executor: SqlExecutor = this.database): Promise<StartResult> {
    for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
      const result = await this.tryStart(organizationId, run, executor);
      if (result) return result;
    }
    return { started: false, because: 'thread_busy' };
  }

  /** @returns null when another run has started or ended on the thread since the statement began */
  private async tryStart(organizationId: string, run: NewRun, executor: SqlExecutor): Promise<StartResult | null> {
    try {
      const rows = await START_RUN.run<StartedRow>(executor, startParameters(organizationId, run));
      const row = rows[0];
      if (!row) return { started: false, because: 'thread_absent' };
      if (row.started) {
        return { started: true, channel: row.channel, isFirstRun: row.is_first, revision: revisionBefore(row) };
      }
      if (!row.current) return null;
      if (row.capped) return { started: false, because: 'session_capped' };
      return { started: false, because: row.open ? 'repeated' : 'answered' };
    } catch (error) {
      if (isUniqueViolation(error, 'runs_one_running_a_thread')) return { started: false, because: 'thread_busy' };
      // Another run has started and ended since this statement began.
      if (isUniqueViolation(error, 'runs_answer_a_run_once')) return { started: false, because: 'thread_busy' };
      throw error;
    }
  }

  /**
   * Stores the run's message so far, before something that cannot be undone.
   * @returns whether the run still belongs to this owner
   */
  async checkpoint(run: OwnedRun, message: Message): Promise<boolean> {
    const rows = await CHECKPOINT.run(this.database, {
      ...run,
      threadId: message.threadId,
      ...messageParameters(message),
    });
    return rows.length > 0;
  }

  /** Stores the contexts that hooks add to the run's message. @returns whether the run still belongs to this owner */
  async keepContext(run: OwnedRun, messageId: string, additionalContext: readonly string[]): Promise<boolean> {
    const parameters = { ...run, messageId, additionalContext };
    return (await KEEP_CONTEXT.run(this.database, parameters)).length > 0;
  }

  /** Stores the verdicts of hooks on the sent history. @returns whether the run still belongs to this owner */
  async keepJudgments(run: OwnedRun, judged: readonly JudgedMessage[]): Promise<boolean> {
    return (await KEEP_JUDGMENTS.run(this.database, { ...run, judged })).length > 0;
  }

  /**
   * Stores the end of a run, if the run still belongs to this owner.
   * @returns the thread's new revision; null when nothing was stored, since another process has ended the run or it was
   * deleted
   */
  async finish(
    executor: SqlExecutor,
    run: Run,
    ownerId: string,
    message: Message | null,
    { title = null, facts, keptResults = [], records = [] }: EndNotes = {},
  ): Promise<number | null> {
    const kept = rowsByTable(this.database.orm, records);
    const rows = await finishRun(kept).run<{ revision: number }>(executor, {
      organizationId: run.organizationId,
      runId: run.id,
      ownerId,
      threadId: run.threadId,
      ...messageParameters(message),
      ...endParameters(run, { facts, title, keptResults }),
      ...keptRows(kept),
    });
    return rows[0]?.revision ?? null;
  }

  /** Reads and removes the results that the previous run kept for this one, which continues its calls. */
  async takeKeptResults(organizationId: string, runId: string): Promise<readonly ResultEntry[]> {
    const rows = await TAKE_KEPT_RESULTS.run<{ kept: unknown }>(this.database, { organizationId, runId });
    return KEPT_RESULTS.readNullable(rows[0]?.kept, runId) ?? [];
  }

  /** @returns of how many runs; 0 means that none is left */
  async removeOldKeptResults(endedBefore: Date): Promise<number> {
    return (await REMOVE_OLD_KEPT_RESULTS.run(this.database, { endedBefore })).length;
  }

  /** @returns the contact, as a `Heartbeat` names it */
  async startHeartbeat(ownerId: string): Promise<string> {
    return contactOf(await START_HEARTBEAT.run<HeartbeatRow>(this.database, { ownerId }));
  }

  /**
   * The result lacks runs whose thread or agent was deleted. An owner that was removed, since its process was suspended
   * for too long, is inserted again and owns no runs.
   */
  async beat(ownerId: string, runIds: readonly string[]): Promise<Heartbeat> {
    const rows = await BEAT.run<HeartbeatRow>(this.database, { ownerId, gapSeconds: CONTACT_GAP_SECONDS, runIds });
    const runs = rows.flatMap(({ id, owned, cancelled }) => (id === null ? [] : [[id, { owned, cancelled }] as const]));
    return { contact: contactOf(rows), runs: new Map(runs) };
  }

  async retireOwner(ownerId: string): Promise<void> {
    await RETIRE_OWNER.run(this.database, { ownerId });
  }

  /**
   * Reads and locks one run without a living owner: the owner has been silent for `silentSeconds`, or is the caller,
   * which does not know the run. A caller whose own heartbeat is old gets no run of another owner. Call inside the
   * transaction that ends the run.
   */
  async takeOrphan(executor: SqlExecutor, silentSeconds: number, own: OwnRuns): Promise<OrphanedRun | null> {
    const rows = await TAKE_ORPHAN.run<OrphanRow>(executor, {
      silentSeconds,
      heardWithinSeconds: CONTACT_GAP_SECONDS,
      ...own,
    });
    const row = rows[0];
    if (!row) return null;
    return toOrphan(executor, row);
  }

  /** Ends an orphaned run of any owner. */
  async finishOrphan(
    executor: SqlExecutor,
    run: Run,
    message: Message | null,
    records: readonly TableRow[],
  ): Promise<void> {
    await TAKE_OVER.run(executor, { runId: run.id, ownerId: SYSTEM_OWNER_ID });
    await this.finish(executor, run, SYSTEM_OWNER_ID, message, { records });
  }

  /** Removes silent owners without a running run. */
  async removeSilentOwners(silentSeconds: number): Promise<void> {
    await REMOVE_SILENT_OWNERS.run(this.database, { silentSeconds });
  }
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
    run: {
      id: row.id,
      organizationId: row.organization_id,
      threadId: row.thread_id,
      agentId: row.agent_id,
      status: 'running',
      createdAt: toDate(row.created_at),
      completedAt: null,
      usage: { inputTokens: null, outputTokens: null, totalTokens: null, credits: 0 },
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
