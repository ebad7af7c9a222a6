import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { requireOrder } from '../domain/analytics-range.js';
import { MessageTraceNotFound, TraceNotFound } from '../domain/observability.errors.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import { RETENTION_MS } from '../limits.js';
import { type TraceKey, TraceRepository } from '../persistence/trace.repository.js';

export interface TraceQuery {
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  readonly threadId: string | null;
  /** Included. Null, or more than 90 days ago, means 90 days ago. */
  readonly from: Date | null;
  /** Included. Null, or later than now, means now. */
  readonly to: Date | null;
}

export interface TracePage {
  readonly traces: readonly TraceSummary[];
  readonly totalItems: number;
}

@Injectable()
export class ReadTraces {
  constructor(
    private readonly traces: TraceRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Newest first. A page after the last one is empty. New and deleted traces shift the pages.
   * @throws ValidationFailed for a range that ends before it begins
   */
  async list(organizationId: string, agentId: string, query: TraceQuery): Promise<TracePage> {
    requireOrder(query.from ?? undefined, query.to ?? undefined);
    const now = this.clock.now();
    const oldest = this.oldestReadable();
    const filter = {
      organizationId,
      agentId,
      threadId: query.threadId,
      from: query.from === null || query.from < oldest ? oldest : query.from,
      to: query.to === null || query.to > now ? endOfHour(now) : justAfter(query.to),
    };
    // The database does not support years as far away as a query may name, so it gets only the clamped range.
    if (filter.to <= filter.from) return { traces: [], totalItems: 0 };
    const offset = (query.page - 1) * query.limit;
    const { count: totalItems, before, skipped } = await this.traces.count(filter, offset);
    if (offset >= totalItems) return { traces: [], totalItems };
    const remaining = { ...filter, to: before ?? filter.to };
    return { traces: await this.traces.summaries(remaining, offset - skipped, query.limit), totalItems };
  }

  /** @throws TraceNotFound */
  async byId(organizationId: string, agentId: string, id: string): Promise<Trace> {
    const trace = await this.find({ organizationId, agentId, by: 'id', id });
    if (!trace) throw new TraceNotFound();
    return trace;
  }

  /** @throws MessageTraceNotFound */
  async byMessage(organizationId: string, agentId: string, messageId: string): Promise<Trace> {
    const trace = await this.find({ organizationId, agentId, by: 'messageId', id: messageId });
    if (!trace) throw new MessageTraceNotFound();
    return trace;
  }

  private find(key: Omit<TraceKey, 'from'>): Promise<Trace | null> {
    return this.traces.find({ ...key, from: this.oldestReadable() });
  }

  private oldestReadable(): Date {
    return new Date(this.clock.now().getTime() - RETENTION_MS);
  }
}

const HOUR_MS = 3_600_000;

/** A range that ends with an hour needs only hourly counts. No trace is later than now. */
function endOfHour(now: Date): Date {
  return new Date(Math.floor(now.getTime() / HOUR_MS + 1) * HOUR_MS);
}

/** Times are stored with milliseconds. */
function justAfter(time: Date): Date {
  return new Date(time.getTime() + 1);
}
