import { raw } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import type { SuggestionUsage } from '../../conversations/index.js';
import { Database, rowsOf, type TableRow, tableRow } from '../../platform/database/index.js';
import type { PushedTrace, RecordedTrace, Trace } from '../domain/trace.js';
import { notOfDeletedThread, tables, usageOf } from './trace-tables.js';
import { type StoredTrace, suggestionUsage, traces } from './traces.schema.js';

/** One trace of an agent, by one of the two ids it is known by. */
export interface TraceKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly by: 'id' | 'messageId';
  readonly id: string;
  /** Older ones are not found. */
  readonly from: Date;
}

/** How much a trace holds. */
export interface TraceSize {
  readonly id: string;
  /** Roughly, of its texts and JSON. */
  readonly bytes: number;
}

@Injectable()
export class TraceRepository {
  constructor(private readonly database: Database) {}

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
   * For the operator's own backend, of any organization: those of the traces that may leave the service, and whose thread
   * and agent are there. In the order of their ids.
   */
  sizes(ids: readonly string[]): Promise<TraceSize[]> {
    return rowsOf(
      this.database,
      stillThere(ids)
        .select(['traces.id', sql<number>`stored_bytes::float8`.as('bytes')])
        .orderBy('traces.id'),
    );
  }

  /** The traces of which `sizes` tells, whole. */
  async ofAnyOrganization(ids: readonly string[]): Promise<PushedTrace[]> {
    const there = await rowsOf(this.database, stillThere(ids).select(['traces.id', 'agents.name']));
    const names = new Map(there.map(({ id, name }) => [id, name]));
    const found = await this.database.read((em) =>
      em.find(traces, { id: { $in: [...names.keys()] } }, { orderBy: { id: 'asc' } }),
    );
    return found.map((stored) => {
      const { id, organizationId, callerSpan } = stored;
      return { ...toTrace(stored), organizationId, callerSpan, agentName: names.get(id) ?? '' };
    });
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

function stillThere(ids: readonly string[]) {
  return tables
    .selectFrom('traces')
    .innerJoin('agents', 'agents.id', 'traces.agent_id')
    .where(sql<boolean>`traces.id = any(${ids}::uuid[])`)
    .where('withheld', '=', false)
    .where(sql<boolean>`${sql.raw(notOfDeletedThread('traces'))}`);
}

function someTraces(limit: number) {
  return tables.selectFrom('traces').select('id').limit(limit).forUpdate().skipLocked();
}

/** The trace of a run, to be kept with its end. */
export function traceRow(organizationId: string, { usage, ...trace }: RecordedTrace): TableRow {
  const { inputTokens, outputTokens, credits } = usage;
  return tableRow(traces, {
    ...trace,
    organizationId,
    inputTokens,
    outputTokens,
    credits,
    publishedAt: null,
    withheld: false,
  });
}

export function suggestionUsageRow({
  id,
  organizationId,
  agentId,
  at,
  inputTokens,
  outputTokens,
  credits,
}: SuggestionUsage): TableRow {
  return tableRow(suggestionUsage, { id, organizationId, agentId, startedAt: at, inputTokens, outputTokens, credits });
}

/** @param stored what a reader of traces is shown, whatever else the row has */
function toTrace(stored: Omit<StoredTrace, keyof Unshown>): Trace {
  const { inputTokens, outputTokens, credits } = stored;
  return {
    id: stored.id,
    agentId: stored.agentId,
    threadId: stored.threadId,
    messageId: stored.messageId,
    channel: stored.channel,
    provider: stored.provider,
    model: stored.model,
    status: stored.status,
    startedAt: stored.startedAt,
    latencyMs: stored.latencyMs,
    timeToFirstTokenMs: stored.timeToFirstTokenMs,
    usage: usageOf(inputTokens, outputTokens, credits),
    input: stored.input,
    output: stored.output,
    steps: stored.steps,
    error: stored.error,
    userContext: stored.userContext,
  };
}

type Unshown = Pick<
  StoredTrace,
  'organizationId' | 'callerSpan' | 'endedAt' | 'storedBytes' | 'userKey' | 'publishedAt' | 'withheld'
>;
