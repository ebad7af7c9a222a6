import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { Run, RunStatus } from '../domain/run.js';
import { LIST_OPEN_RUNS, LIST_OPEN_RUNS_OF_THREAD, LIST_RUNS, LIST_RUNS_OF_THREAD } from './run-list.sql.js';
import { type RunRow, toRun } from './run-reader.repository.js';

export interface RunPosition {
  /** As the database wrote it, to the microsecond. */
  readonly createdAt: string;
  readonly id: string;
}

export interface RunFilter {
  /** Only runs of this thread. */
  readonly threadId?: string | undefined;
  /** Only runs of these agents; null means all. */
  readonly agentIds: readonly string[] | null;
  /** Only runs with one of these statuses; null means all. */
  readonly statuses: readonly RunStatus[] | null;
  readonly createdAfter: Date | null;
  /** Only runs with open requests: those that ended then or earlier have expired. Null for runs of any kind. */
  readonly openAfter: Date | null;
}

export interface ListedRun {
  readonly run: Run;
  /** No later run of the thread has answered the run's requests. They may have expired. */
  readonly unanswered: boolean;
  readonly position: RunPosition;
}

export interface ListedRuns {
  readonly runs: readonly ListedRun[];
  /** After which the next page begins; null when there is none. A page that has read much may have few runs, or none. */
  readonly next: RunPosition | null;
}

interface ListedRow extends RunRow {
  position: string;
  unanswered: boolean;
  listed: boolean;
  is_last_read: boolean;
  is_end: boolean;
}

@Injectable()
export class RunList {
  constructor(private readonly database: Database) {}

  /** The newest first. Runs of deleted threads and agents are absent. */
  async page(organizationId: string, filter: RunFilter, after: RunPosition | null, limit: number): Promise<ListedRuns> {
    const rows = await this.read(organizationId, filter, after, limit + 1);
    const runs: ListedRun[] = [];
    for (const row of rows) {
      if (row.is_end) return { runs, next: null };
      const position = { createdAt: row.position, id: row.id };
      if (row.listed && runs.length === limit) return { runs, next: runs.at(-1)?.position ?? null };
      if (row.listed) runs.push({ run: toRun(organizationId, row), unanswered: row.unanswered, position });
      if (row.is_last_read) return { runs, next: position };
    }
    return { runs, next: null };
  }

  private read(
    organizationId: string,
    { threadId, agentIds, statuses, createdAfter, openAfter }: RunFilter,
    after: RunPosition | null,
    limit: number,
  ): Promise<ListedRow[]> {
    const filter = { organizationId, agentIds, statuses, createdAfter, afterId: after?.id ?? null, limit };
    if (openAfter) {
      const open = { ...filter, expiredUntil: openAfter };
      return threadId === undefined
        ? LIST_OPEN_RUNS.run<ListedRow>(this.database, open)
        : LIST_OPEN_RUNS_OF_THREAD.run<ListedRow>(this.database, { ...open, threadId });
    }
    const page = { ...filter, createdAt: after?.createdAt ?? null };
    if (threadId !== undefined) return LIST_RUNS_OF_THREAD.run<ListedRow>(this.database, { ...page, threadId });
    return LIST_RUNS.run<ListedRow>(this.database, page);
  }
}
