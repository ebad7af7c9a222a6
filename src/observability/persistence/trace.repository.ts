import { Injectable } from '@nestjs/common';
import type { Channel, RunError, RunStatus, UserContext } from '../../conversations/index.js';
import { Database, type Statement, storableJson, storableText, toDate } from '../../platform/database/index.js';
import type { Trace, TraceStep, TraceSummary } from '../domain/trace.js';
import { SUMMARY_CHARACTERS } from '../limits.js';

export interface TraceFilter {
  readonly organizationId: string;
  readonly agentId: string;
  /** Null for every conversation. */
  readonly threadId: string | null;
  /** Both included. */
  readonly from: Date;
  readonly to: Date;
}

/** One trace of an agent, by one of the two ids it is known by. */
export interface TraceKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly by: 'id' | 'message_id';
  readonly id: string;
  /** Older ones are not found. */
  readonly from: Date;
}

interface SummaryRow {
  id: string;
  agent_id: string;
  thread_id: string;
  message_id: string | null;
  channel: Channel;
  provider: string;
  model: string;
  status: RunStatus;
  started_at: string;
  latency_ms: number;
  input_tokens: number | null;
  output_tokens: number | null;
  credits: number;
  input: string;
  output: string;
}

interface TraceRow extends SummaryRow {
  time_to_first_token_ms: number | null;
  steps: TraceStep[];
  error: RunError | null;
  user_context: UserContext | null;
}

/** The drivers answer a `bigint` as text; as a float it is a number, exact as far as JavaScript's are. */
const PLAIN_COLUMNS = `id, agent_id, thread_id, message_id, channel, provider, model, status, started_at,
  latency_ms::float8 as latency_ms, input_tokens::float8 as input_tokens, output_tokens::float8 as output_tokens,
  credits`;
/** `left` counts code points. */
const BEGINNINGS = `left(input, ${SUMMARY_CHARACTERS}) as input, left(output, ${SUMMARY_CHARACTERS}) as output`;

@Injectable()
export class TraceRepository {
  constructor(private readonly database: Database) {}

  async count(filter: TraceFilter): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `select count(*)::int as count from traces where ${FILTER_SQL}`,
      filterParameters(filter),
    );
    return row?.count ?? 0;
  }

  /** Newest first. */
  async summaries(filter: TraceFilter, offset: number, limit: number): Promise<TraceSummary[]> {
    const rows = await this.database.query<SummaryRow>(
      `select ${PLAIN_COLUMNS}, ${BEGINNINGS} from traces where ${FILTER_SQL}
       order by started_at desc, id desc offset $6::bigint limit $7::int`,
      [...filterParameters(filter), offset, limit],
    );
    return rows.map(toSummary);
  }

  async find({ organizationId, agentId, by, id, from }: TraceKey): Promise<Trace | null> {
    const rows = await this.database.query<TraceRow>(
      `select ${PLAIN_COLUMNS}, input, output, steps, error, user_context,
              time_to_first_token_ms::float8 as time_to_first_token_ms
       from traces
       where organization_id = $1 and agent_id = $2 and ${by} = $3 and started_at >= $4::timestamptz
         and not ${OF_DELETED_THREAD}
       order by started_at desc limit 1`,
      [organizationId, agentId, id, from.toISOString()],
    );
    const [row] = rows;
    return row ? toTrace(row) : null;
  }

  /**
   * Deletes the oldest traces of before `cutoff`, at most `limit`. Two at once take different ones.
   * @returns how many
   */
  async deleteBefore(cutoff: Date, limit: number): Promise<number> {
    const rows = await this.database.query(
      `delete from traces where id in (
         select id from traces where started_at < $1::timestamptz
         order by started_at limit $2::int for update skip locked
       ) returning id`,
      [cutoff.toISOString(), limit],
    );
    return rows.length;
  }

  /**
   * Deletes traces of threads, at most `limit`. Two at once take different ones.
   * @returns how many
   */
  async deleteOfThreads(threadIds: readonly string[], limit: number): Promise<number> {
    const rows = await this.database.query(
      `delete from traces where id in (
         select id from traces where thread_id = any($1::uuid[]) limit $2::int for update skip locked
       ) returning id`,
      [threadIds, limit],
    );
    return rows.length;
  }
}

/** Large threads are deleted before their rows are removed; there are few of those at any time. */
const OF_DELETED_THREAD = `thread_id in (select id from threads where deleted_at is not null)`;

/** Does nothing when the run has left its trace already. */
const INSERT_SQL = `
  insert into traces
    (id, organization_id, agent_id, thread_id, message_id, channel, provider, model, status, started_at, latency_ms,
     time_to_first_token_ms, input_tokens, output_tokens, credits, input, output, steps, error, user_context)
  select
    $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::uuid, $6::text, $7::text, $8::text, $9::text, $10::timestamptz,
    $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::double precision, $16::text, $17::text, $18::jsonb,
    $19::jsonb, $20::jsonb
  from ended_run
  on conflict (id) do nothing`;

/** The trace of a run, kept with its end: takes its row `from ended_run`. */
export function insertTrace(organizationId: string, trace: Trace): Statement {
  const parameters = [
    trace.id,
    organizationId,
    trace.agentId,
    trace.threadId,
    trace.messageId,
    trace.channel,
    trace.provider,
    trace.model,
    trace.status,
    trace.startedAt.toISOString(),
    trace.latencyMs,
    trace.timeToFirstTokenMs,
    trace.usage.inputTokens,
    trace.usage.outputTokens,
    trace.usage.credits,
    storableText(trace.input),
    storableText(trace.output),
    storableJson(trace.steps),
    trace.error === null ? null : storableJson(trace.error),
    trace.userContext === null ? null : storableJson(trace.userContext),
  ];
  return { sql: INSERT_SQL, parameters };
}

const FILTER_SQL = `organization_id = $1 and agent_id = $2 and ($3::uuid is null or thread_id = $3::uuid)
  and started_at >= $4::timestamptz and started_at <= $5::timestamptz and not ${OF_DELETED_THREAD}`;

function filterParameters({ organizationId, agentId, threadId, from, to }: TraceFilter): unknown[] {
  return [organizationId, agentId, threadId, from.toISOString(), to.toISOString()];
}

function toSummary(row: SummaryRow): TraceSummary {
  const { input_tokens: inputTokens, output_tokens: outputTokens, credits } = row;
  return {
    id: row.id,
    agentId: row.agent_id,
    threadId: row.thread_id,
    messageId: row.message_id,
    channel: row.channel,
    provider: row.provider,
    model: row.model,
    status: row.status,
    startedAt: toDate(row.started_at),
    latencyMs: row.latency_ms,
    usage: {
      inputTokens,
      outputTokens,
      totalTokens: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
      credits,
    },
    input: row.input,
    output: row.output,
  };
}

function toTrace(row: TraceRow): Trace {
  return {
    ...toSummary(row),
    timeToFirstTokenMs: row.time_to_first_token_ms,
    steps: row.steps,
    error: row.error,
    userContext: row.user_context,
  };
}
