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
import { FORGET_KEPT_RESULTS, TAKE_KEPT_RESULTS } from './kept-results.sql.js';
import { findMessage } from './message.repository.js';
import { type RunUserRow, toRunUser } from './run-user.js';
import type { NewRun, RunModel } from './new-run.js';
import {
  BEAT,
  FORGET_SILENT_OWNERS,
  RETIRE_OWNER,
  START_HEARTBEAT,
  TAKE_ORPHAN,
  TAKE_OVER,
} from './run-ownership.sql.js';
import { START_RUN, type StartedRow, startParameters } from './start-run.sql.js';
import { DECISIONS, KEPT_RESULTS } from './conversations.entities.js';

export type { NewRun, RunModel } from './new-run.js';

/** The verdict of hooks on a message of a sent history. */
export interface JudgedMessage {
  readonly id: string;
  /** No model gets the message. */
  readonly blocked: boolean;
  readonly context: readonly string[] | null;
}

/** What is kept with the end of a run besides the run itself. */
export interface EndNotes {
  /** For a thread that has none yet. */
  readonly title?: string | null;
  /** What a repeat of the request is answered on top of the error. */
  readonly facts?: FailureFacts;
  /** What the run that goes on with this one's calls gets besides the transcript. */
  readonly keptResults?: readonly ResultEntry[];
  /** What the run's observers keep. */
  readonly records?: readonly TableRow[];
}

/** `revision`: of the thread before the run, null where its messages were changed by the start itself. */
export type StartResult =
  | {
      readonly started: true;
      readonly channel: Channel;
      readonly isFirstRun: boolean;
      readonly revision: number | null;
    }
  /** `answered`: what the run was to go on with is no longer open. */
  | {
      readonly started: false;
      readonly because: 'thread_absent' | 'thread_busy' | 'repeated' | 'answered' | 'session_capped';
    };

/** What a process is told at its heartbeat. */
export interface Heartbeat {
  /** Names the unbroken contact that the heartbeat belongs to. */
  readonly contact: string;
  /**
   * Those of the runs asked for that still exist: whether they are still running and still this process's, and
   * whether they shall be cancelled.
   */
  readonly runs: ReadonlyMap<string, { readonly owned: boolean; readonly cancelled: boolean }>;
}

/** What a process knows of its own runs. */
export interface OwnRuns {
  readonly ownerId: string;
  /** Those under way, or whose end is still to be stored. */
  readonly known: readonly string[];
  /** Runs stored since then may not have been told to the process yet. */
  readonly before: Date;
  /** As the last heartbeat before the look told it: others are judged only while it lasts. Null where there is none. */
  readonly contact: string | null;
}

/** A run whose process died, with what it had stored. */
export interface OrphanedRun {
  readonly run: Run;
  readonly channel: Channel;
  readonly user: RunUser;
  readonly userMessage: { readonly id: string; readonly text: string } | null;
  readonly decisions: readonly ApprovalDecision[] | null;
  readonly message: Message | null;
  readonly agent: RunModel;
  /** Stored JSON that cannot be read. The message or the decisions that it belongs to are null here. */
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
   * Takes the thread and stores the run and the user's message, in one statement and so in one
   * transaction. The unique index on running runs is the lock: of two at once one is refused. Calls of the
   * run before that wait for approval are answered with it: by the resume input, or as declined.
   */
  async start(organizationId: string, run: NewRun, executor: SqlExecutor = this.database): Promise<StartResult> {
    for (let attempt = 1; attempt <= START_TRIES; attempt += 1) {
      const result = await this.tryStart(organizationId, run, executor);
      if (result) return result;
    }
    return { started: false, because: 'thread_busy' };
  }

  /** @returns null when another run has started or ended on the thread since the statement looked */
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
      // Another run took the thread and has ended since this statement looked.
      if (isUniqueViolation(error, 'runs_answer_a_run_once')) return { started: false, because: 'thread_busy' };
      throw error;
    }
  }

  /** Keeps what the run has so far, before something that cannot be taken back. */
  async checkpoint(run: { id: string; organizationId: string; ownerId: string }, message: Message): Promise<boolean> {
    const rows = await CHECKPOINT.run(this.database, {
      organizationId: run.organizationId,
      runId: run.id,
      ownerId: run.ownerId,
      threadId: message.threadId,
      ...messageParameters(message),
    });
    return rows.length > 0;
  }

  /** Keeps what hooks have put beside the message of the run. @returns whether the run is still this owner's */
  async keepContext(
    run: { id: string; organizationId: string; ownerId: string },
    messageId: string,
    additionalContext: readonly string[],
  ): Promise<boolean> {
    const { id: runId, organizationId, ownerId } = run;
    const of = { organizationId, runId, ownerId, messageId, additionalContext };
    return (await KEEP_CONTEXT.run(this.database, of)).length > 0;
  }

  /** Stores the verdicts of hooks on the history that the request sent. @returns whether the run is still this owner's */
  async keepJudgments(
    run: { id: string; organizationId: string; ownerId: string },
    judged: readonly JudgedMessage[],
  ): Promise<boolean> {
    const { id: runId, organizationId, ownerId } = run;
    return (await KEEP_JUDGMENTS.run(this.database, { organizationId, runId, ownerId, judged })).length > 0;
  }

  /**
   * Stores the end of a run, if it is still this owner's to end.
   * @returns the thread's revision from now on; null when another process has ended the run meanwhile, and then
   * nothing is stored
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

  /** What the run before has left for this one, which goes on with its calls; nothing is left there afterwards. */
  async takeKeptResults(organizationId: string, runId: string): Promise<readonly ResultEntry[]> {
    const rows = await TAKE_KEPT_RESULTS.run<{ kept: unknown }>(this.database, { organizationId, runId });
    return KEPT_RESULTS.readNullable(rows[0]?.kept, runId) ?? [];
  }

  /** @returns of how many runs; 0 means that none is left */
  async forgetKeptResults(endedBefore: Date): Promise<number> {
    return (await FORGET_KEPT_RESULTS.run(this.database, { endedBefore })).length;
  }

  /** @returns the contact, as a `Heartbeat` names it */
  async startHeartbeat(ownerId: string): Promise<string> {
    return contactOf(await START_HEARTBEAT.run<HeartbeatRow>(this.database, { ownerId }));
  }

  /**
   * Runs whose thread or agent is gone are not among the answered. An owner that was given up (its process stood still
   * for too long) starts anew with nothing.
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
   * Takes over one run that nobody carries on, together with what it had stored: its owner has not been heard of
   * for `silentSeconds`, or is the caller, who does not know it. A caller whose own heartbeat is old takes none of
   * others'. Call inside a transaction: the row stays locked until it is ended.
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

  /** Ends an orphan, whoever its owner was. */
  async finishOrphan(
    executor: SqlExecutor,
    run: Run,
    message: Message | null,
    records: readonly TableRow[],
  ): Promise<void> {
    await TAKE_OVER.run(executor, { runId: run.id, ownerId: SYSTEM_OWNER_ID });
    await this.finish(executor, run, SYSTEM_OWNER_ID, message, { records });
  }

  /** Owners that own nothing and have been silent for long. */
  async forgetSilentOwners(silentSeconds: number): Promise<void> {
    await FORGET_SILENT_OWNERS.run(this.database, { silentSeconds });
  }
}

/** Each try but the first follows upon a run that came in between; who meets so many finds the thread busy. */
const START_TRIES = 5;

/** The owner of runs that are being ended for a dead process. */
const SYSTEM_OWNER_ID = '00000000-0000-0000-0000-000000000000';

/** What waited for an answer reads otherwise from now on. */
function revisionBefore({ answers, revision }: StartedRow): number | null {
  return answers ? null : revision - 1;
}

function contactOf(rows: readonly HeartbeatRow[]): string {
  const [row] = rows;
  if (!row) throw new Error('A heartbeat was not stored');
  return row.contact;
}

/** Reads what it can: a run that cannot be read whole has to end too, and must not keep others from ending. */
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
