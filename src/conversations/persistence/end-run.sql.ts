/**
 * Hot path: every run ends with `finishRun`, stores its message before each round of tool calls with `CHECKPOINT`, the
 * contexts that hooks add with `KEEP_CONTEXT`, and the verdicts of hooks on a sent history with `KEEP_JUDGMENTS`.
 * Written by hand because the end of a run stores run, message, thread and the observers' rows together or not at all,
 * in one round trip and with a plan made once.
 */
import {
  insertRows,
  type ParameterReferences,
  type ParametersOf,
  statement,
  type Statement,
  storableText,
  type TableRow,
  type TableRows,
} from '../../platform/database/index.js';
import type { Message, ResultEntry } from '../domain/message.js';
import type { FailureFacts, Run } from '../domain/run.js';
import type { RunContinuation } from '../domain/run-options.js';
import { THREAD_EXISTS } from './thread.sql.js';

/** What is stored with the end of a run besides the run itself. */
export interface EndNotes {
  /** For a thread without a title. */
  readonly title?: string | null;
  /** A repeated request gets these besides the error. */
  readonly facts?: FailureFacts;
  /** The run that continues this run's calls gets these besides the transcript. */
  readonly keptResults?: readonly ResultEntry[];
  /** The same run takes this over. */
  readonly continuation?: RunContinuation | null;
  readonly records?: readonly TableRow[];
}

const RUN_PARAMETERS = { organizationId: 'uuid', runId: 'uuid', ownerId: 'uuid' } as const;

/** All are null when there is no message. */
const MESSAGE_PARAMETERS = {
  messageId: 'uuid',
  threadId: 'uuid',
  content: 'text',
  messageStatus: 'text',
  blocked: 'boolean',
  toolCalls: 'jsonb',
  components: 'jsonb',
  transcript: 'jsonb',
  messageCreatedAt: 'timestamptz',
} as const;

const END_PARAMETERS = {
  status: 'text',
  error: 'jsonb',
  completedAt: 'timestamptz',
  inputTokens: 'bigint',
  outputTokens: 'bigint',
  cachedInputTokens: 'bigint',
  credits: 'double precision',
  title: 'text',
  stopReason: 'text',
  approvals: 'jsonb',
  keptResults: 'jsonb',
  continuation: 'jsonb',
} as const;

const CHECKPOINT_PARAMETERS = { ...RUN_PARAMETERS, ...MESSAGE_PARAMETERS } as const;
const FINISH_PARAMETERS = { ...CHECKPOINT_PARAMETERS, ...END_PARAMETERS } as const;

type FinishParameters = ParameterReferences<typeof FINISH_PARAMETERS>;

/**
 * The run is under way, in the caller's process. Written so that the planner finds the run by its id: the index of the runs under way
 * looks as cheap, but has an entry of every run that has ended since the last vacuum.
 */
const isOwned = (p: { readonly ownerId: string }): string =>
  `owner_id = ${p.ownerId} and coalesce(status, '') = 'running'`;

const upsertMessage = (p: ParameterReferences<typeof CHECKPOINT_PARAMETERS>, source: string): string => `
  message as (
    insert into messages
      (id, organization_id, thread_id, run_id, role, content, status, blocked, tool_calls, transcript, components,
       component_bytes, created_at)
    select ${p.messageId}, ${p.organizationId}, ${p.threadId}, ${p.runId}, 'assistant', ${p.content},
           ${p.messageStatus}, ${p.blocked}, ${p.toolCalls}, ${p.transcript}, ${p.components},
           octet_length(${p.components}::text), ${p.messageCreatedAt}
    from ${source} where ${p.messageId} is not null
    on conflict (id) do update set
      content = excluded.content, status = excluded.status, blocked = excluded.blocked,
      tool_calls = excluded.tool_calls, transcript = excluded.transcript, components = excluded.components,
      component_bytes = excluded.component_bytes
  )`;

/** No row either when the thread or the agent was deleted: no tool is called for it any more. */
export const CHECKPOINT = statement(
  CHECKPOINT_PARAMETERS,
  (p) => `
  with owned as (
    select id from runs
    where organization_id = ${p.organizationId} and id = ${p.runId} and ${isOwned(p)}
      and exists (select 1 from threads where threads.id = runs.thread_id and ${THREAD_EXISTS})
    for update
  ), ${upsertMessage(p, 'owned')}
  select id from owned`,
);

/**
 * Stores the message of a run that another process has ended as failed, unless a run has begun on the thread since. Run and observers'
 * rows stay: readers and webhooks know that end. `ownerId` is the owner of runs that were ended for their process. A start that the
 * lock has waited for is not in the statement's snapshot, and shows by the thread's revision, as in `START_RUN`.
 */
export const KEEP_REPLY = statement(
  CHECKPOINT_PARAMETERS,
  (p) => `
  with ended as (
    select runs.id, runs.thread_id from runs join threads on threads.id = runs.thread_id and ${THREAD_EXISTS}
    join threads seen on seen.id = threads.id and seen.revision = threads.revision
    where runs.organization_id = ${p.organizationId} and runs.id = ${p.runId} and runs.thread_id = ${p.threadId}
      and runs.owner_id = ${p.ownerId} and runs.status = 'failed'
      and not exists (select 1 from runs later where later.thread_id = runs.thread_id and later.id > runs.id)
    for no key update of threads
  ), ${upsertMessage(p, 'ended')}
  update threads set revision = threads.revision + 1 from ended where threads.id = ended.thread_id`,
);

export const KEEP_CONTEXT = statement(
  { ...RUN_PARAMETERS, messageId: 'uuid', additionalContext: 'jsonb' },
  (p) => `
  with owned as (
    select id from runs
    where organization_id = ${p.organizationId} and id = ${p.runId} and ${isOwned(p)}
    for update
  )
  update messages set additional_context = ${p.additionalContext}, context_bytes = octet_length(${p.additionalContext}::text)
  from owned where messages.organization_id = ${p.organizationId} and messages.id = ${p.messageId}
    and messages.run_id = owned.id
  returning messages.id`,
);

/** The messages of a sent history belong to no run. */
export const KEEP_JUDGMENTS = statement(
  { ...RUN_PARAMETERS, judged: 'jsonb' },
  (p) => `
  with owned as (
    select id, thread_id from runs
    where organization_id = ${p.organizationId} and id = ${p.runId} and ${isOwned(p)}
    for update
  )
  update messages set blocked = judged.blocked, additional_context = judged.context,
                      context_bytes = coalesce(octet_length(judged.context::text), 0)
  from owned, jsonb_to_recordset(${p.judged}) as judged(id uuid, blocked boolean, context jsonb)
  where messages.organization_id = ${p.organizationId} and messages.thread_id = owned.thread_id
    and messages.run_id is null and messages.id = judged.id
  returning messages.id`,
);

/**
 * Has one row if the run still belongs to its owner; the rest of the statement depends on it. A run whose thread or
 * agent was deleted can only end as cancelled.
 */
const ENDED_RUN = (p: FinishParameters): string => `
  thread as (
    select id from threads
    where organization_id = ${p.organizationId} and id = ${p.threadId}
      and (${p.status} = 'cancelled' or (${THREAD_EXISTS}))
    for no key update
  ), ended_run as (
    update runs set status = ${p.status}, error = ${p.error}, completed_at = ${p.completedAt},
                    input_tokens = ${p.inputTokens}, output_tokens = ${p.outputTokens},
                    cached_input_tokens = ${p.cachedInputTokens}, credits = ${p.credits}, stop_reason = ${p.stopReason},
                    approvals = ${p.approvals}, kept_results = ${p.keptResults},
                    continuation = ${p.continuation}
    from thread
    where runs.thread_id = thread.id and runs.organization_id = ${p.organizationId} and runs.id = ${p.runId}
      and ${isOwned(p)}
    returning runs.id, runs.thread_id
  )`;

const TOUCHED = (p: FinishParameters): string => `
  touched as (
    update threads set updated_at = ${p.completedAt}, last_message_at = ${p.completedAt},
                       title = coalesce(threads.title, ${p.title}),
                       awaiting_run_id = case when ${p.status} = 'requires_action' then ended_run.id end,
                       revision = threads.revision + 1
    from ended_run where threads.id = ended_run.thread_id
    returning threads.revision::float8
  )`;

type Rows = Record<`rows_${number}`, 'jsonb'>;
type FinishStatement = Statement<typeof FINISH_PARAMETERS & Rows>;

const statements = new Map<string, FinishStatement>();

/**
 * Returns the thread's new revision; no row when the run no longer belongs to its owner, or was deleted and is not cancelled.
 * @param kept the observers' rows: each table is part of the text, its rows are one parameter (`keptRows`)
 */
export function finishRun(kept: readonly TableRows[]): FinishStatement {
  const tables = kept.map(({ table, columns, fanOut }) => `${table}(${columns.join()})${fanOut?.where ?? ''}`).join();
  const known = statements.get(tables);
  if (known) return known;
  const rows: Rows = Object.fromEntries(kept.map((_rows, index) => [rowsName(index), 'jsonb'] as const));
  const types: typeof FINISH_PARAMETERS & Rows = { ...FINISH_PARAMETERS, ...rows };
  const made = statement(types, (p) => {
    const inserts = kept.map(
      (table, index) => `kept_${index} as (${insertRows(table, p[rowsName(index)] ?? '', 'ended_run')})`,
    );
    return `
  with ${[ENDED_RUN(p), upsertMessage(p, 'ended_run'), TOUCHED(p), ...inserts].join(',')}
  select touched.revision from ended_run, touched`;
  });
  statements.set(tables, made);
  return made;
}

const rowsName = (index: number): `rows_${number}` => `rows_${index}`;

export function keptRows(kept: readonly TableRows[]): ParametersOf<Rows> {
  return Object.fromEntries(kept.map(({ rows }, index) => [rowsName(index), rows] as const));
}

export function messageParameters(message: Message | null): Omit<ParametersOf<typeof MESSAGE_PARAMETERS>, 'threadId'> {
  return {
    messageId: message?.id ?? null,
    content: message && storableText(message.content),
    messageStatus: message?.status ?? null,
    blocked: message?.blocked ?? null,
    toolCalls: message?.toolCalls ?? null,
    components: message?.components ?? null,
    transcript: message?.transcript ?? null,
    messageCreatedAt: message?.createdAt ?? null,
  };
}

export function endParameters(
  { status, error, completedAt, createdAt, usage, stopReason, approvals }: Run,
  { facts, title = null, keptResults = [], continuation = null }: EndNotes,
): ParametersOf<typeof END_PARAMETERS> {
  return {
    ...{ status, ...usage, title, stopReason: stopReason ?? null, approvals },
    error: error && { ...error, ...facts },
    completedAt: completedAt ?? createdAt,
    keptResults: keptResults.length === 0 ? null : keptResults,
    continuation,
  };
}
