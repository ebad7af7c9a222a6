import { Injectable } from '@nestjs/common';
import {
  Database,
  isUniqueViolation,
  numberedAfter,
  type SqlExecutor,
  type Statement,
  storableJson,
  storableText,
  toDate,
} from '../../platform/database/index.js';
import type { ProviderType } from '../../models/index.js';
import type { ApprovalDecision, Resumption } from '../domain/approval.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Message } from '../domain/message.js';
import type { FailureFacts, Run } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../ports/index.js';
import { ANSWER_CALLS, answeredCalls } from './answer-calls.sql.js';
import { claimCte } from './idempotency.sql.js';
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message.repository.js';

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
  readonly resumption?: Resumption | undefined;
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
  /** What the turn's observers keep, each taking its rows from `ended_run`. */
  readonly records?: readonly Statement[];
}

export type StartResult =
  | { readonly started: true; readonly channel: Channel; readonly isFirstTurn: boolean }
  /** `answered`: what the run was to go on with is no longer open. */
  | { readonly started: false; readonly because: 'thread_absent' | 'thread_busy' | 'repeated' | 'answered' };

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
  started: boolean;
  open: boolean;
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
  constructor(private readonly database: Database) {}

  /**
   * Takes the thread and stores the run and the user's message, in one statement and so in one
   * transaction. The unique index on running runs is the lock: of two at once one is refused. Calls of the
   * run before that wait for approval are answered with it: by the resumption, or as declined.
   */
  async start(organizationId: string, run: NewRun, executor: SqlExecutor = this.database): Promise<StartResult> {
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
      if (row.started) return { started: true, channel: row.channel, isFirstTurn: row.is_first };
      return { started: false, because: row.open ? 'repeated' : 'answered' };
    } catch (error) {
      if (isUniqueViolation(error, 'runs_one_running_a_thread')) return { started: false, because: 'thread_busy' };
      // Another run took the thread and has ended since this statement looked.
      if (isUniqueViolation(error, 'runs_answer_a_run_once')) return { started: false, because: 'thread_busy' };
      throw error;
    }
  }

  /** Keeps what the turn has so far, before something that cannot be taken back. */
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
   * @returns false when another process has ended it meanwhile; nothing is stored then
   */
  async finish(
    executor: SqlExecutor,
    run: Run,
    ownerId: string,
    message: Message | null,
    { title = null, facts, records = [] }: EndNotes = {},
  ): Promise<boolean> {
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
    const rows = await executor.query(finishSql(records, own.length), [
      ...own,
      ...records.flatMap(({ parameters }) => parameters),
    ]);
    return rows.length > 0;
  }

  async startHeartbeat(ownerId: string): Promise<void> {
    await this.database.query('insert into run_owners (id) values ($1)', [ownerId]);
  }

  /**
   * @returns those of the runs that still exist: whether they are still running and still this owner's, and whether
   * they shall be cancelled. An owner that was given up (its process stood still for too long) starts anew with nothing.
   */
  async beat(ownerId: string, runIds: readonly string[]): Promise<Map<string, { owned: boolean; cancelled: boolean }>> {
    const rows = await this.database.query<{ id: string | null; owned: boolean; cancelled: boolean }>(
      `with beat as (
         insert into run_owners (id) values ($1) on conflict (id) do update set heartbeat_at = now() returning id
       )
       select runs.id, runs.owner_id = beat.id and runs.status = 'running' as owned,
              runs.cancel_requested_at is not null as cancelled
       from beat left join runs on runs.id = any($2::uuid[])`,
      [ownerId, runIds],
    );
    return new Map(rows.flatMap(({ id, ...state }) => (id === null ? [] : [[id, state] as const])));
  }

  async retireOwner(ownerId: string): Promise<void> {
    await this.database.query('delete from run_owners where id = $1', [ownerId]);
  }

  /**
   * Takes over one run whose owner has not been heard of for `silentSeconds`, together with what it
   * had stored. Call inside a transaction: the row stays locked until it is ended.
   */
  async takeOrphan(executor: SqlExecutor, silentSeconds: number): Promise<OrphanedRun | null> {
    const rows = await executor.query<OrphanRow>(TAKE_ORPHAN_SQL, [silentSeconds]);
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
    await executor.query(`update runs set owner_id = $2 where id = $1`, [run.id, ORPHANAGE]);
    await this.finish(executor, run, ORPHANAGE, message, { records });
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

/** The owner of runs that are being ended for a dead process. */
const ORPHANAGE = '00000000-0000-0000-0000-000000000000';

/** The thread's lock waits for a deletion under way, which otherwise would break the insert instead of being seen. */
const START_SQL = `
  with thread as (
    select id, agent_id, channel, last_message_at is null as is_first, awaiting_run_id
    from threads where organization_id = $2 and id = $3 for key share
  ), open_thread as (
    select id, agent_id, awaiting_run_id from thread where $16::uuid is null or awaiting_run_id = $16::uuid
  ), ${claimCte({ organization: '$2', operation: '$13', key: '$14', fingerprint: '$15', resource: '$1', at: '$7', source: 'open_thread' })},
  run as (
    insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, user_context, created_at,
                      provider, model, use_own_api_key, decisions, answers_run_id)
    select $1::uuid, $2::uuid, open_thread.id, open_thread.agent_id, $4::uuid, $5::uuid, 'running', $6::jsonb,
           $7::timestamptz, $10, $11, $12::boolean, $17::jsonb, open_thread.awaiting_run_id
    from open_thread where $14::text is null or exists (select 1 from claim)
    returning id, thread_id, answers_run_id
  ), ${ANSWER_CALLS}, message as (
    insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at, attachments)
    select $8::uuid, $2::uuid, run.thread_id, run.id, 'user', $9, 'completed', $7::timestamptz, $20::jsonb from run
    where $8::uuid is not null
  ), touched as (
    update threads set updated_at = $7::timestamptz, last_message_at = $7::timestamptz, awaiting_run_id = null
    from run where threads.id = run.thread_id
  )
  select thread.channel, thread.is_first, exists (select 1 from run) as started,
         exists (select 1 from open_thread) as open from thread`;

/** Inserts or completes the assistant message of the runs in `source`; its parameters are $5 to $13. */
const upsertMessage = (condition: string, source: string): string => `
  message as (
    insert into messages
      (id, organization_id, thread_id, run_id, role, content, status, blocked, tool_calls, transcript, created_at)
    select $5::uuid, $1::uuid, $6::uuid, $7::uuid, 'assistant', $8, $9, $10::boolean, $11::jsonb, $12::jsonb,
           $13::timestamptz
    from ${source} where ${condition}::boolean
    on conflict (id) do update set
      content = excluded.content, status = excluded.status, blocked = excluded.blocked,
      tool_calls = excluded.tool_calls, transcript = excluded.transcript
  )`;

const FINISH_SQL = `
  with ended_run as (
    update runs set status = $14, error = $15::jsonb, completed_at = $16::timestamptz,
                    input_tokens = $17::bigint, output_tokens = $18::bigint, credits = $19::double precision,
                    stop_reason = $21, approvals = $22::jsonb
    where organization_id = $1 and id = $2 and owner_id = $3 and status = 'running'
    returning id, thread_id
  ), ${upsertMessage('$4', 'ended_run')}, touched as (
    update threads set updated_at = $16::timestamptz, last_message_at = $16::timestamptz,
                       title = coalesce(threads.title, $20),
                       awaiting_run_id = case when $14 = 'requires_action' then ended_run.id end
    from ended_run where threads.id = ended_run.thread_id
  )`;

/** The end of a run, and with it what the observers keep. */
function finishSql(records: readonly Statement[], parameters: number): string {
  let count = parameters;
  const kept = records.map(({ sql, parameters: own }, index) => {
    const part = `, record_${index} as (${numberedAfter(sql, count)})`;
    count += own.length;
    return part;
  });
  return `${FINISH_SQL}${kept.join('')} select id from ended_run`;
}

const TAKE_ORPHAN_SQL = `
  select runs.id, runs.organization_id, runs.thread_id, runs.agent_id, runs.message_id, runs.user_context,
         runs.created_at, runs.provider, runs.model, runs.use_own_api_key, runs.decisions, threads.channel, asked.id as user_message_id, asked.content as user_text
  from runs
  join threads on threads.id = runs.thread_id
  left join messages asked on asked.run_id = runs.id and asked.role = 'user'
    and asked.thread_id = runs.thread_id
  where runs.status = 'running' and not exists (
    select 1 from run_owners
    where run_owners.id = runs.owner_id and run_owners.heartbeat_at > now() - make_interval(secs => $1::int)
  )
  limit 1 for update of runs skip locked`;

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
