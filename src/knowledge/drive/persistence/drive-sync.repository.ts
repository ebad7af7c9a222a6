import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, type Transaction } from '../../../platform/database/index.js';
import type { ClaimedSource, SyncPhase } from '../domain/drive-source.js';
import type { SyncState } from '../../index/domain/sync-status.js';
import { FILES } from './drive.entities.js';
import { SOURCE_COLUMNS, type SourceId } from './drive-source.repository.js';

type ClaimedRow = Omit<ClaimedSource, 'files' | 'lease'> & { readonly files: string };

/** What a step leaves in the source's row. */
export interface SyncProgress {
  readonly phase: SyncPhase;
  readonly isFull: boolean;
  readonly isTruncated: boolean;
  readonly changeToken: string | null;
  readonly changePages: number;
}

export interface SyncEnd {
  readonly state: SyncState;
  readonly lastError: string | null;
  readonly nextSyncAt: Date;
}

const claim = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', now: 'timestamptz', until: 'timestamptz' },
  (p) => `update drive_sources set lease = ${p.lease}, due_at = ${p.until}
    where organization_id = ${p.organizationId} and id = ${p.id} and state = 'IN_PROGRESS' and removed_at is null
      and (lease is null or due_at < ${p.now}) and exists (select 1 from agents where id = drive_sources.agent_id)
    returning ${SOURCE_COLUMNS}, sync_id::text as "syncId", phase, is_full as "isFull", is_truncated as "isTruncated",
      change_token as "changeToken", change_pages as "changePages", stalls`,
);

const hold = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid' },
  (p) => `select id from drive_sources where organization_id = ${p.organizationId} and id = ${p.id} and lease = ${p.lease} for share`,
);

const renew = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', until: 'timestamptz' },
  (p) => `update drive_sources set due_at = ${p.until}
    where organization_id = ${p.organizationId} and id = ${p.id} and lease = ${p.lease} returning id`,
);

const progress = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', phase: 'text', isFull: 'boolean', isTruncated: 'boolean', changeToken: 'text', changePages: 'integer' },
  (p) => `update drive_sources set phase = ${p.phase}, is_full = ${p.isFull}, is_truncated = ${p.isTruncated},
      change_token = ${p.changeToken}, change_pages = ${p.changePages}
    where organization_id = ${p.organizationId} and id = ${p.id} and lease = ${p.lease} returning id`,
);

const release = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', dueAt: 'timestamptz', stalls: 'integer' },
  (p) => `update drive_sources set lease = null, due_at = ${p.dueAt}, stalls = ${p.stalls}
    where organization_id = ${p.organizationId} and id = ${p.id} and lease = ${p.lease} returning id`,
);

const end = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', state: 'text', lastError: 'text', nextSyncAt: 'timestamptz', now: 'timestamptz' },
  (p) => `update drive_sources set lease = null, state = ${p.state}, last_error = ${p.lastError}, next_sync_at = ${p.nextSyncAt},
      last_successful_sync_at = case when ${p.state} = 'FAILED' then last_successful_sync_at else ${p.now} end
    where organization_id = ${p.organizationId} and id = ${p.id} and lease = ${p.lease}`,
);

const overdue = statement(
  { before: 'timestamptz', until: 'timestamptz', limit: 'integer' },
  (p) => `update drive_sources set due_at = ${p.until} where lease is null and id = any(array(
      select id from drive_sources where state = 'IN_PROGRESS' and removed_at is null and due_at < ${p.before} and lease is null
        and exists (select 1 from agents where id = drive_sources.agent_id)
      order by due_at limit ${p.limit} for update skip locked))
    returning id::text as id, organization_id::text as "organizationId"`,
);

const abandoned = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `select id::text as id, organization_id::text as "organizationId" from drive_sources
    where state = 'IN_PROGRESS' and removed_at is null and due_at < ${p.before} and lease is not null
      and exists (select 1 from agents where id = drive_sources.agent_id) order by due_at limit ${p.limit}`,
);

const begin = statement(
  { now: 'timestamptz', limit: 'integer' },
  (p) => `update drive_sources set state = 'IN_PROGRESS', started_at = ${p.now}, sync_id = gen_random_uuid(), phase = 'begin', stalls = 0,
      lease = null, due_at = ${p.now}, change_pages = 0
    where id = any(array(
      select id from drive_sources where state <> 'IN_PROGRESS' and removed_at is null and next_sync_at <= ${p.now}
        and exists (select 1 from agents where id = drive_sources.agent_id)
      order by next_sync_at limit ${p.limit} for update skip locked))
    returning id::text as id, organization_id::text as "organizationId"`,
);

/** The transitions of a sync. Whoever has the lease has the only right to write. */
@Injectable()
export class DriveSyncRepository {
  constructor(private readonly database: Database) {}

  /** @returns null where nothing is to be done, or somebody alive is at it */
  async claim({ organizationId, id }: SourceId, lease: string, now: Date, until: Date): Promise<ClaimedSource | null> {
    const [row] = await claim.run<ClaimedRow>(this.database, { organizationId, id, lease, now, until });
    return row ? { ...row, files: FILES.readText(row.files, row.id), lease } : null;
  }

  /** Whether the lease still counts; if so it does until the end of the transaction. */
  async hold(transaction: SqlExecutor, { organizationId, id, lease }: ClaimedSource): Promise<boolean> {
    return (await hold.run(transaction, { organizationId, id, lease })).length > 0;
  }

  async renew({ organizationId, id, lease }: ClaimedSource, until: Date): Promise<boolean> {
    return (await renew.run(this.database, { organizationId, id, lease, until })).length > 0;
  }

  /** @returns false when the lease is another's by now */
  async progress(transaction: Transaction, { organizationId, id, lease }: ClaimedSource, changes: SyncProgress): Promise<boolean> {
    const { phase, isFull, isTruncated, changeToken, changePages } = changes;
    return (await progress.run(transaction, { organizationId, id, lease, phase, isFull, isTruncated, changeToken, changePages })).length > 0;
  }

  /** Ends a step. @returns as `progress` */
  async release(transaction: Transaction, { organizationId, id, lease }: ClaimedSource, dueAt: Date, stalls: number): Promise<boolean> {
    return (await release.run(transaction, { organizationId, id, lease, dueAt, stalls })).length > 0;
  }

  async end({ organizationId, id, lease }: ClaimedSource, { state, lastError, nextSyncAt }: SyncEnd, now: Date): Promise<void> {
    await end.run(this.database, { organizationId, id, lease, state, lastError, nextSyncAt, now });
  }

  /** Syncs of any organization whose next step did not begin, or whose step has not been heard of. */
  async overdue(transaction: Transaction, before: Date, until: Date, limit: number): Promise<SourceId[]> {
    const waiting = await overdue.run<SourceId>(transaction, { before, until, limit });
    return [...waiting, ...(await abandoned.run<SourceId>(transaction, { before, limit }))];
  }

  /** Begins the syncs that are due, of any organization. */
  begin(transaction: Transaction, now: Date, limit: number): Promise<SourceId[]> {
    return begin.run<SourceId>(transaction, { now, limit });
  }
}
