import { Injectable } from '@nestjs/common';
import { type InferResult, sql } from 'kysely';
import { Database, rowsOf } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import type { Trace } from '../domain/trace.js';
import { notOfDeletedThread, tables, toSummary } from './trace-tables.js';
import { STEPS, TRACE_USER_CONTEXT } from './traces.schema.js';

/** Where a walk through the traces of an agent has got to: the last trace that it has seen. */
export interface WalkPosition {
  readonly startedAt: Date;
  readonly id: string;
}

export interface WalkPage extends TimeRange {
  readonly organizationId: string;
  readonly agentId: string;
  /** Null for the first page. */
  readonly after: WalkPosition | null;
  /** Traces, and bytes of them as they are stored; one that is larger is a page of its own. */
  readonly limit: number;
  readonly maxBytes: number;
}

@Injectable()
export class TraceExportRepository {
  constructor(private readonly database: Database) {}

  /** Published traces, newest first. `hasMore`: the walk has further ones behind these. */
  async page(walk: WalkPage): Promise<{ readonly traces: readonly Trace[]; readonly hasMore: boolean }> {
    const rows = await rowsOf(this.database, pageOf(walk));
    return { traces: rows.map(toExported), hasMore: (rows[0]?.found ?? 0) > rows.length };
  }
}

/** By position rather than by number: neither new traces nor deleted ones move what a walk has before it. */
function candidates({ organizationId, agentId, from, to, after, limit }: WalkPage) {
  const found = tables
    .selectFrom('traces')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('agent_id', '=', agentId)
    .where('published_at', 'is not', null)
    .where('withheld', '=', false)
    .where('started_at', '>=', from.toISOString())
    .where('started_at', '<', to.toISOString())
    .where(sql<boolean>`${sql.raw(notOfDeletedThread('traces'))}`)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1);
  if (after === null) return found;
  return found.where(
    sql<boolean>`(started_at, id) < (${after.startedAt.toISOString()}::timestamptz, ${after.id}::uuid)`,
  );
}

/** Large values stay where they are until a row is answered: those beyond the page are not read. */
function pageOf(walk: WalkPage) {
  return tables
    .with('newest', () => candidates(walk))
    .with('measured', (query) =>
      query
        .selectFrom('newest')
        .selectAll()
        .select([
          sql<number>`row_number() over (order by started_at desc, id desc rows unbounded preceding)`.as('nth'),
          sql<number>`sum(stored_bytes) over (order by started_at desc, id desc rows unbounded preceding)`.as(
            'total_bytes',
          ),
        ]),
    )
    .selectFrom('measured')
    .select([
      'id',
      'agent_id',
      'thread_id',
      'message_id',
      'channel',
      'provider',
      'model',
      'status',
      'started_at',
      'credits',
    ])
    .select(['input', 'output', 'steps', 'error', 'user_context'])
    .select([
      sql<number>`latency_ms::float8`.as('latency_ms'),
      sql<number | null>`time_to_first_token_ms::float8`.as('time_to_first_token_ms'),
      sql<number | null>`input_tokens::float8`.as('input_tokens'),
      sql<number | null>`output_tokens::float8`.as('output_tokens'),
      sql<number>`(select count(*)::int from measured)`.as('found'),
    ])
    .where((eb) =>
      eb.or([eb('nth', '=', 1), eb.and([eb('nth', '<=', walk.limit), eb('total_bytes', '<=', walk.maxBytes)])]),
    )
    .orderBy('nth');
}

function toExported(row: InferResult<ReturnType<typeof pageOf>>[number]): Trace {
  const { time_to_first_token_ms: timeToFirstTokenMs } = row;
  const steps = STEPS.read(row.steps, row.id);
  return { ...toSummary(row), timeToFirstTokenMs, steps, userContext: TRACE_USER_CONTEXT.read(row.user_context) };
}
