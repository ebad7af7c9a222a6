import { raw } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { type InferResult, sql } from 'kysely';
import type { RunUsage } from '../../conversations/index.js';
import {
  type ColumnsOf,
  Database,
  queryBuilder,
  rowsOf,
  type TableRow,
  tableRow,
  toDate,
} from '../../platform/database/index.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import { SUMMARY_CHARACTERS } from '../limits.js';
import { type StoredTrace, traces } from './traces.schema.js';

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
  readonly by: 'id' | 'messageId';
  readonly id: string;
  /** Older ones are not found. */
  readonly from: Date;
}

/** How much a trace holds, and whose it is. */
export interface TraceSize {
  readonly id: string;
  readonly organizationId: string;
  /** Of its texts and JSON, uncompressed. */
  readonly bytes: number;
}

/** For what no entity fits: the beginnings of texts that may be long, and removals in batches. */
const tables = queryBuilder<{
  traces: ColumnsOf<typeof traces>;
  /** Of another context: traces are those of threads that are there. */
  threads: { id: string; deleted_at: string | null };
}>();

@Injectable()
export class TraceRepository {
  constructor(private readonly database: Database) {}

  async count(filter: TraceFilter): Promise<number> {
    const [row] = await rowsOf(this.database, matching(filter).select(sql<number>`count(*)::int`.as('count')));
    return row?.count ?? 0;
  }

  /** Newest first. */
  async summaries(filter: TraceFilter, offset: number, limit: number): Promise<TraceSummary[]> {
    const page = summariesOf(filter).orderBy('started_at', 'desc').orderBy('id', 'desc').offset(offset).limit(limit);
    return (await rowsOf(this.database, page)).map(toSummary);
  }

  async find({ organizationId, agentId, by, id, from }: TraceKey): Promise<Trace | null> {
    const found = await this.database.read((em) =>
      em.findOne(
        traces,
        { organizationId, agentId, [by]: id, startedAt: { $gte: from }, [raw(notOfDeletedThread)]: [] },
        { orderBy: { startedAt: 'desc' } },
      ),
    );
    return found && toTrace(found);
  }

  /**
   * For the operator's own backend, of any organization: those of the traces that are still there, and whose thread and
   * agent are. In the order of their ids.
   */
  sizes(ids: readonly string[]): Promise<TraceSize[]> {
    return rowsOf(
      this.database,
      stillThere(ids)
        .select(['id', 'organization_id as organizationId'])
        .select(sql<number>`octet_length(input) + octet_length(output) + octet_length(steps::text)`.as('bytes'))
        .orderBy('id'),
    );
  }

  /** The traces of which `sizes` tells, whole. */
  async ofAnyOrganization(ids: readonly string[]): Promise<(Trace & { readonly organizationId: string })[]> {
    const there = await rowsOf(this.database, stillThere(ids).select('id'));
    const found = await this.database.read((em) => em.find(traces, { id: { $in: there.map(({ id }) => id) } }, { orderBy: { id: 'asc' } }));
    return found.map((stored) => ({ ...toTrace(stored), organizationId: stored.organizationId }));
  }

  /**
   * Deletes the oldest traces of before `cutoff`, at most `limit`. Two at once take different ones.
   * @returns how many
   */
  deleteBefore(cutoff: Date, limit: number): Promise<number> {
    return this.delete(someTraces(limit).where('started_at', '<', cutoff.toISOString()).orderBy('started_at'));
  }

  /**
   * Deletes traces of threads, at most `limit`. Two at once take different ones.
   * @returns how many
   */
  deleteOfThreads(threadIds: readonly string[], limit: number): Promise<number> {
    return this.delete(someTraces(limit).where(sql<boolean>`thread_id = any(${threadIds}::uuid[])`));
  }

  private async delete(some: ReturnType<typeof someTraces>): Promise<number> {
    return (await rowsOf(this.database, tables.deleteFrom('traces').where('id', 'in', some).returning('id'))).length;
  }
}

/** Large threads are deleted before their rows are removed; there are few of those at any time. */
const notOfDeletedThread = (traces: string): string =>
  `${traces}.thread_id not in (select id from threads where deleted_at is not null)`;

function stillThere(ids: readonly string[]) {
  return tables
    .selectFrom('traces')
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .where(sql<boolean>`${sql.raw(notOfDeletedThread('traces'))}`)
    .where(sql<boolean>`exists (select 1 from agents where agents.id = traces.agent_id)`);
}

function someTraces(limit: number) {
  return tables.selectFrom('traces').select('id').limit(limit).forUpdate().skipLocked();
}

function matching({ organizationId, agentId, threadId, from, to }: TraceFilter) {
  const found = tables
    .selectFrom('traces')
    .where('organization_id', '=', organizationId)
    .where('agent_id', '=', agentId)
    .where('started_at', '>=', from.toISOString())
    .where('started_at', '<=', to.toISOString())
    .where(sql<boolean>`${sql.raw(notOfDeletedThread('traces'))}`);
  return threadId === null ? found : found.where('thread_id', '=', threadId);
}

/** The drivers answer a `bigint` as text; as a float it is a number, exact as far as JavaScript's are. */
function summariesOf(filter: TraceFilter) {
  return matching(filter)
    .select(['id', 'agent_id', 'thread_id', 'message_id', 'channel', 'provider', 'model', 'status', 'started_at', 'credits'])
    .select([
      sql<number>`latency_ms::float8`.as('latency_ms'),
      sql<number | null>`input_tokens::float8`.as('input_tokens'),
      sql<number | null>`output_tokens::float8`.as('output_tokens'),
      // Code points.
      sql<string>`left(input, ${SUMMARY_CHARACTERS})`.as('input'),
      sql<string>`left(output, ${SUMMARY_CHARACTERS})`.as('output'),
    ]);
}

/** The trace of a run, to be kept with its end. */
export function traceRow(organizationId: string, { usage, ...trace }: Trace): TableRow {
  const { inputTokens, outputTokens, credits } = usage;
  return tableRow(traces, { ...trace, organizationId, inputTokens, outputTokens, credits });
}

function toSummary(row: InferResult<ReturnType<typeof summariesOf>>[number]): TraceSummary {
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
    usage: usageOf(row.input_tokens, row.output_tokens, row.credits),
    input: row.input,
    output: row.output,
  };
}

function toTrace(stored: StoredTrace): Trace {
  const { organizationId: _organizationId, inputTokens, outputTokens, credits, ...trace } = stored;
  return { ...trace, usage: usageOf(inputTokens, outputTokens, credits) };
}

function usageOf(inputTokens: number | null, outputTokens: number | null, credits: number): RunUsage {
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, credits };
}
