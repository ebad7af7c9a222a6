import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { type CursorScope, Cursors } from '../../platform/cursors/index.js';
import { earlier, later, requireOrder, type TimeRange } from '../domain/analytics-range.js';
import type { Trace } from '../domain/trace.js';
import { EXPORT_PAGE, EXPORT_PAGE_BYTES, RETENTION_MS } from '../limits.js';
import { type ExportPosition, TraceRepository } from '../persistence/trace.repository.js';

export interface ExportQuery {
  /** Included. Undefined, or more than 90 days ago, means 90 days ago. */
  readonly from: Date | undefined;
  /** Not included. Undefined means now. Ignored with a cursor. */
  readonly to: Date | undefined;
  readonly cursor: string | undefined;
}

export interface ExportPage {
  readonly traces: readonly Trace[];
  /** Null on the last page. */
  readonly cursor: string | null;
}

interface ExportState extends TimeRange {
  readonly after: ExportPosition | null;
}

/**
 * Exports the published traces of an agent page by page, newest first. The cursor holds the range of the first page, so that every
 * trace that was published by then is on exactly one page.
 */
@Injectable()
export class ExportTraces {
  constructor(
    private readonly traces: TraceRepository,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed for a cursor that no export of this agent has issued, and for a range that ends before it begins */
  async execute(organizationId: string, agentId: string, query: ExportQuery): Promise<ExportPage> {
    const scope = { list: `trace-export:${agentId}`, organizationId, field: 'meta.cursor' };
    const state = this.readState(scope, query);
    if (state.to <= state.from) return { traces: [], cursor: null };
    const bounds = { limit: EXPORT_PAGE, maxBytes: EXPORT_PAGE_BYTES };
    const { traces, hasMore } = await this.traces.exportPage({ organizationId, agentId, ...state, ...bounds });
    const last = traces.at(-1);
    return { traces, cursor: hasMore && last ? this.issueCursor(scope, state, last) : null };
  }

  private readState(scope: CursorScope, { from, to, cursor }: ExportQuery): ExportState {
    const now = this.clock.now();
    const oldest = new Date(now.getTime() - RETENTION_MS);
    if (cursor === undefined) requireOrder(from, to);
    const state = cursor === undefined ? { from: oldest, to: to ?? now, after: null } : this.readCursor(scope, cursor);
    return { from: later(from ?? state.from, oldest), to: earlier(state.to, now), after: state.after };
  }

  private readCursor(scope: CursorScope, cursor: string): ExportState {
    const [from = '', to = '', startedAt = '', id = ''] = this.cursors.read(scope, cursor);
    return { from: new Date(from), to: new Date(to), after: { startedAt: new Date(startedAt), id } };
  }

  private issueCursor(scope: CursorScope, { from, to }: ExportState, { startedAt, id }: Trace): string {
    return this.cursors.issue(scope, [from.toISOString(), to.toISOString(), startedAt.toISOString(), id]);
  }
}
