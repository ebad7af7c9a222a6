import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { type CursorScope, Cursors } from '../../platform/cursors/index.js';
import { earlier, later, requireOrder, type TimeRange } from '../domain/analytics-range.js';
import type { Trace } from '../domain/trace.js';
import { EXPORT_PAGE, EXPORT_PAGE_BYTES, RETENTION_MS } from '../limits.js';
import { TraceExportRepository, type ExportPosition } from '../persistence/trace-export.repository.js';

export interface ExportQuery {
  /** Included; undefined or longer ago than 90 days means 90 days ago. */
  readonly from: Date | undefined;
  /** Not included; undefined means now. Without effect beside a cursor. */
  readonly to: Date | undefined;
  readonly cursor: string | undefined;
}

export interface ExportPage {
  readonly traces: readonly Trace[];
  /** Null at the end of the walk. */
  readonly cursor: string | null;
}

interface Walk extends TimeRange {
  readonly after: ExportPosition | null;
}

/**
 * A walk through the published traces of an agent, newest first. It keeps to the range that it began with, which its
 * cursor carries: every trace that was published when it began is on one of its pages, and none is on two.
 */
@Injectable()
export class ExportTraces {
  constructor(
    private readonly traces: TraceExportRepository,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationFailed for a cursor that does not belong to an export of this agent's traces, and for a range that
   * ends before it begins
   */
  async execute(organizationId: string, agentId: string, query: ExportQuery): Promise<ExportPage> {
    const scope = { list: `trace-export:${agentId}`, organizationId, field: 'meta.cursor' };
    const walk = this.walkOf(scope, query);
    if (walk.to <= walk.from) return { traces: [], cursor: null };
    const bounds = { limit: EXPORT_PAGE, maxBytes: EXPORT_PAGE_BYTES };
    const { traces, hasMore } = await this.traces.page({ organizationId, agentId, ...walk, ...bounds });
    const last = traces.at(-1);
    return { traces, cursor: hasMore && last ? this.cursorOf(scope, walk, last) : null };
  }

  private walkOf(scope: CursorScope, { from, to, cursor }: ExportQuery): Walk {
    const now = this.clock.now();
    const oldest = new Date(now.getTime() - RETENTION_MS);
    if (cursor === undefined) requireOrder(from, to);
    const begun = cursor === undefined ? { from: oldest, to: to ?? now, after: null } : this.begunWalk(scope, cursor);
    return { from: later(from ?? begun.from, oldest), to: earlier(begun.to, now), after: begun.after };
  }

  private begunWalk(scope: CursorScope, cursor: string): Walk {
    const [from = '', to = '', startedAt = '', id = ''] = this.cursors.read(scope, cursor);
    return { from: new Date(from), to: new Date(to), after: { startedAt: new Date(startedAt), id } };
  }

  private cursorOf(scope: CursorScope, { from, to }: Walk, { startedAt, id }: Trace): string {
    return this.cursors.issue(scope, [from.toISOString(), to.toISOString(), startedAt.toISOString(), id]);
  }
}
