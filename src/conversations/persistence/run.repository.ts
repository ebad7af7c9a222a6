import { Injectable } from '@nestjs/common';
import {
  Database,
  isUniqueViolation,
  type SqlExecutor,
  type Statement,
  storableJson,
  storableText,
  toDate,
} from '../../platform/database/index.js';
import type { ProviderType } from '../../models/index.js';
import type { ApprovalDecision, ResumeInput } from '../domain/approval.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Message } from '../domain/message.js';
import type { FailureFacts, Run } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../ports/index.js';
import { answeredCalls } from './answer-calls.sql.js';
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message.repository.js';
import { FinishStatement, START_SQL, TAKE_ORPHAN_SQL, upsertMessage } from './run.sql.js';
import { IS_THERE } from './thread.sql.js';

export interface NewRun {
  readonly id: string;
  readonly threadId: string;
  readonly ownerId: string;
  /** Id of the assistant message the run will write. */
  readonly messageId: string;
  /** Null for a run that goes on with `resumption` instead. */
  readonly userMessage: {
    readonly id: string;
    readonly text: string;
    readonly attachments?: readonly MessageAttachment[];
  } | null;
  readonly resumption?: ResumeInput | undefined;
  readonly userContext: UserContext | null;
  readonly createdAt: Date;
  readonly model: RunModel;
  readonly idempotency?: IdempotentRequest;
}

/** What the run is answered by, kept with it: the agent may change or run on another model later. */
export interface RunModel {
  readonly provider: ProviderType;
  readonly model: string;
  readonly useOwnApiKey: boolean;
}

/** What is kept with the end of a run besides the run itself. */
export interface EndNotes {
  /** For a thread that has none yet. */
  readonly title?: string | null;
  /** What a repeat of the request is answered on top of the error. */
  readonly facts?: FailureFacts;
  /** What the run's observers keep, each taking its rows from `ended_run`. */
  readonly records?: readonly Statement[];
}

/** `revision`: of the thread before the run, null where its messages were changed by the start itself. */
export type StartResult =
  | { readonly started: true; readonly channel: Channel; readonly isFirstRun: boolean; readonly revision: number | null }
  /** `answered`: what the run was to go on with is no longer open. */
  | { readonly started: false; readonly because: 'thread_absent' | 'thread_busy' | 'repeated' | 'answered' };

/** What a process is told at its heartbeat. */
export interface Heartbeat {
  /** Since the heartbeat before, by the database's clock; null where it knew of none. */
  readonly silentSeconds: number | null;
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
  /** The process judges others only where the database has heard of it within this time. */
  readonly heardWithinSeconds: number;
}

/** A run whose process died, with what it had stored. */
export interface OrphanedRun {
  readonly run: Run;
  readonly channel: Channel;
  readonly userContext: UserContext | null;
  readonly userMessage: { readonly id: string; readonly text: string } | null;
  readonly decisions: readonly ApprovalDecision[] | null;
  readonly message: Message | null;
  readonly agent: RunModel;
}

interface StartedRow {
  channel: Channel;
  is_first: boolean;
  answers: boolean;
  revision: number;
  started: boolean;
  open: boolean;
  /** The thread is as the rest of the statement sees it. */
  current: boolean;
}

interface HeartbeatRow {
  silent_seconds: number | null;
  id: string | null;
  owned: boolean;
  cancelled: boolean;
}

interface OrphanRow {
  id: string;
  organization_id: string;
  thread_id: string;
  agent_id: string;
  message_id: string;
  user_context: UserContext | null;
  created_at: string;
  channel: Channel;
  user_message_id: string | null;
  user_text: string | null;
  decisions: ApprovalDecision[] | null;
  provider: ProviderType;
  model: string;
  use_own_api_key: boolean;
}

@Injectable()
export class RunRepository {
  private readonly finishStatement = new FinishStatement();

  constructor(private readonly database: Database) {}

  /**
   * Takes the thread and stores the run and the user's message, in one statement and so in one
   * transaction. The unique index on running runs is the lock: of two at once one is refused. Calls of the
   * run before that wait for approval are answered with it: by the resumption, or as declined.
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
      const rows = await executor.query<StartedRow>(START_SQL, [
        run.id,
        organizationId,
        run.threadId,
        run.ownerId,
        run.messageId,
        run.userContext === null ? null : storableJson(run.userContext),
        run.createdAt.toISOString(),
        run.userMessage?.id ?? null,
        run.userMessage?.text ?? null,
        run.model.provider,
        run.model.model,
        run.model.useOwnApiKey,
        run.idempotency?.operation ?? null,
        run.idempotency?.key ?? null,
        run.idempotency?.fingerprint ?? null,
        run.resumption?.runId ?? null,
        run.resumption ? storableJson(run.resumption.decisions) : null,
        ...answeredCalls(run.resumption),
        storableJson(run.userMessage?.attachments ?? []),
      ]);
      const row = rows[0];
      if (!row) return { started: false, because: 'thread_absent' };
      if (row.started) {
        return { started: true, channel: row.channel, isFirstRun: row.is_first, revision: revisionBefore(row) };
      }
      if (!row.current) return null;
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
    const rows = await this.database.query(
      `with owned as (
         select id from runs where organization_id = $1 and id = $2 and owner_id = $3 and status = 'running' for update
       ), ${upsertMessage('$4', 'owned')}
       select id from owned`,
      [run.organizationId, run.id, run.ownerId, true, ...messageParameters(message)],
    );
    return rows.length > 0;
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
    { title = null, facts, records = [] }: EndNotes = {},
  ): Promise<number | null> {
    const own = [
      run.organizationId,
      run.id,
      ownerId,
      message !== null,
      ...messageParameters(message ?? placeholder(run)),
      run.status,
      run.error === null ? null : storableJson({ ...run.error, ...facts }),
      (run.completedAt ?? run.createdAt).toISOString(),
      run.usage.inputTokens,
      run.usage.outputTokens,
      run.usage.credits,
      title,
      run.stopReason ?? null,
      storableJson(run.approvals),
    ];
    const rows = await executor.query<{ revision: number }>(this.finishStatement.sqlWith(records, own.length), [
      ...own,
      ...records.flatMap(({ parameters }) => parameters),
    ]);
    return rows[0]?.revision ?? null;
  }

  async startHeartbeat(ownerId: string): Promise<void> {
    await this.database.query('insert into run_owners (id) values ($1)', [ownerId]);
  }

  /**
   * Runs whose thread or agent is gone are not among the answered. An owner that was given up (its process stood still
   * for too long) starts anew with nothing.
   */
  async beat(ownerId: string, runIds: readonly string[]): Promise<Heartbeat> {
    const rows = await this.database.query<HeartbeatRow>(
      `with beat as (
         insert into run_owners (id) values ($1) on conflict (id) do update set heartbeat_at = now() returning id
       )
       select extract(epoch from now() - before.heartbeat_at)::float8 as silent_seconds, runs.id,
              runs.owner_id = beat.id and runs.status = 'running' as owned,
              runs.cancel_requested_at is not null as cancelled
       from beat left join run_owners before on before.id = beat.id
       left join (runs join threads on threads.id = runs.thread_id and ${IS_THERE}) on runs.id = any($2::uuid[])`,
      [ownerId, runIds],
    );
    const runs = rows.flatMap(({ id, owned, cancelled }) => (id === null ? [] : [[id, { owned, cancelled }] as const]));
    return { silentSeconds: rows[0]?.silent_seconds ?? null, runs: new Map(runs) };
  }

  async retireOwner(ownerId: string): Promise<void> {
    await this.database.query('delete from run_owners where id = $1', [ownerId]);
  }

  /**
   * Takes over one run that nobody carries on, together with what it had stored: its owner has not been heard of
   * for `silentSeconds`, or is the caller, who does not know it. A caller whose own heartbeat is old takes none of
   * others'. Call inside a transaction: the row stays locked until it is ended.
   */
  async takeOrphan(executor: SqlExecutor, silentSeconds: number, own: OwnRuns): Promise<OrphanedRun | null> {
    const { ownerId, known, before, heardWithinSeconds } = own;
    const parameters = [silentSeconds, ownerId, before.toISOString(), known, heardWithinSeconds];
    const rows = await executor.query<OrphanRow>(TAKE_ORPHAN_SQL, parameters);
    const row = rows[0];
    if (!row) return null;
    const messages = await executor.query<MessageRow>(`select ${MESSAGE_COLUMNS} from messages where id = $1`, [
      row.message_id,
    ]);
    return toOrphan(row, messages[0] ? toMessage(messages[0]) : null);
  }

  /** Ends an orphan, whoever its owner was. */
  async finishOrphan(
    executor: SqlExecutor,
    run: Run,
    message: Message | null,
    records: readonly Statement[],
  ): Promise<void> {
    await executor.query(`update runs set owner_id = $2 where id = $1`, [run.id, SYSTEM_OWNER_ID]);
    await this.finish(executor, run, SYSTEM_OWNER_ID, message, { records });
  }

  /** Owners that own nothing and have been silent for long. */
  async forgetSilentOwners(silentSeconds: number): Promise<void> {
    await this.database.query(
      `delete from run_owners where heartbeat_at < now() - make_interval(secs => $1::int)
       and not exists (select 1 from runs where runs.owner_id = run_owners.id and runs.status = 'running')`,
      [silentSeconds],
    );
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

function messageParameters(message: Message): unknown[] {
  return [
    message.id,
    message.threadId,
    message.runId,
    storableText(message.content),
    message.status,
    message.blocked,
    storableJson(message.toolCalls),
    storableJson(message.transcript),
    message.createdAt.toISOString(),
  ];
}

/** Fills the parameters of a statement that inserts no message. */
function placeholder(run: Run): Message {
  return {
    id: run.id,
    threadId: run.threadId,
    runId: run.id,
    role: 'assistant',
    content: '',
    status: 'failed',
    blocked: false,
    reaction: null,
    toolCalls: [],
    transcript: [],
    createdAt: run.createdAt,
  };
}

function toOrphan(row: OrphanRow, message: Message | null): OrphanedRun {
  return {
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
    userContext: row.user_context,
    userMessage: row.user_message_id === null ? null : { id: row.user_message_id, text: row.user_text ?? '' },
    decisions: row.decisions,
    message,
    agent: { provider: row.provider, model: row.model, useOwnApiKey: row.use_own_api_key },
  };
}
