import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import type { SourceId } from './drive-source.repository.js';

/** What somebody's sign-in gave a source, without its tokens. */
export interface DriveGrant {
  readonly status: 'authorized' | 'gone';
  /** Another one with every set of tokens. */
  readonly generation: string;
  readonly expiresAt: Date;
  /** From when on the access token is replaced. */
  readonly refreshAt: Date;
}

/** A refresh that one process does for all. */
export interface DriveRefreshClaim extends SourceId {
  /** The tokens that are to be replaced. */
  readonly generation: string;
  readonly lease: string;
}

const find = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `select status, generation::text as generation, expires_at as "expiresAt", refresh_at as "refreshAt" from drive_grants
    where organization_id = ${p.organizationId} and source_id = ${p.id}`,
);

const put = statement(
  { organizationId: 'uuid', id: 'uuid', generation: 'uuid', expiresAt: 'timestamptz', refreshAt: 'timestamptz' },
  (p) => `insert into drive_grants (source_id, organization_id, status, generation, expires_at, refresh_at)
    values (${p.id}, ${p.organizationId}, 'authorized', ${p.generation}, ${p.expiresAt}, ${p.refreshAt})
    on conflict (source_id) do update set status = 'authorized', generation = excluded.generation, expires_at = excluded.expires_at,
      refresh_at = excluded.refresh_at, refresh_lease = null, refreshing_until = null`,
);

const claim = statement(
  { organizationId: 'uuid', id: 'uuid', generation: 'uuid', lease: 'uuid', now: 'timestamptz', until: 'timestamptz', latest: 'timestamptz' },
  (p) => `update drive_grants set refresh_lease = ${p.lease}, refreshing_until = ${p.until}
    where organization_id = ${p.organizationId} and source_id = ${p.id} and generation = ${p.generation} and status = 'authorized'
      and (refreshing_until is null or refreshing_until < ${p.now} or refreshing_until > ${p.latest}) returning source_id`,
);

const HELD = (p: { readonly organizationId: string; readonly id: string; readonly lease: string }): string =>
  `organization_id = ${p.organizationId} and source_id = ${p.id} and refresh_lease = ${p.lease}`;

const save = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid', generation: 'uuid', expiresAt: 'timestamptz', refreshAt: 'timestamptz' },
  (p) => `update drive_grants set generation = ${p.generation}, expires_at = ${p.expiresAt}, refresh_at = ${p.refreshAt},
      refresh_lease = null, refreshing_until = null where ${HELD(p)} returning source_id`,
);

const markGone = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid' },
  (p) => `update drive_grants set status = 'gone', refresh_lease = null, refreshing_until = null where ${HELD(p)} returning source_id`,
);

const release = statement(
  { organizationId: 'uuid', id: 'uuid', lease: 'uuid' },
  (p) => `update drive_grants set refresh_lease = null, refreshing_until = null where ${HELD(p)}`,
);

const expire = statement(
  { organizationId: 'uuid', id: 'uuid', generation: 'uuid', now: 'timestamptz' },
  (p) => `update drive_grants set refresh_at = ${p.now}, expires_at = ${p.now}
    where organization_id = ${p.organizationId} and source_id = ${p.id} and generation = ${p.generation}`,
);

@Injectable()
export class DriveGrantRepository {
  constructor(private readonly database: Database) {}

  async find({ organizationId, id }: SourceId, source: SqlExecutor = this.database): Promise<DriveGrant | null> {
    const [row] = await find.run<{ status: DriveGrant['status']; generation: string; expiresAt: string; refreshAt: string }>(source, { organizationId, id });
    return row ? { ...row, expiresAt: toDate(row.expiresAt), refreshAt: toDate(row.refreshAt) } : null;
  }

  /** Sets it, whatever was there; a refresh that is under way comes to nothing. */
  async put(transaction: Transaction, { organizationId, id }: SourceId, { generation, expiresAt, refreshAt }: Omit<DriveGrant, 'status'>): Promise<void> {
    await put.run(transaction, { organizationId, id, generation, expiresAt, refreshAt });
  }

  /**
   * Claims the refresh of these tokens, unless somebody else has, until `until`.
   * @param until when the claim ends; one that ends much later was made before the clock was set back
   */
  async claim(transaction: Transaction, { organizationId, id, generation, lease }: DriveRefreshClaim, now: Date, until: Date): Promise<boolean> {
    const latest = new Date(2 * until.getTime() - now.getTime());
    return (await claim.run(transaction, { organizationId, id, generation, lease, now, until, latest })).length > 0;
  }

  /** @returns false when the claim is another's by now, or somebody has signed in again */
  async save(transaction: Transaction, { organizationId, id, lease }: DriveRefreshClaim, { generation, expiresAt, refreshAt }: Omit<DriveGrant, 'status'>): Promise<boolean> {
    return (await save.run(transaction, { organizationId, id, lease, generation, expiresAt, refreshAt })).length > 0;
  }

  /** @returns as `save` */
  async markGone(transaction: Transaction, { organizationId, id, lease }: DriveRefreshClaim): Promise<boolean> {
    return (await markGone.run(transaction, { organizationId, id, lease })).length > 0;
  }

  async release({ organizationId, id, lease }: DriveRefreshClaim): Promise<void> {
    await release.run(this.database, { organizationId, id, lease });
  }

  /** The drive does not take the access token of this generation any more, so the next one who needs it refreshes. */
  async expire({ organizationId, id }: SourceId, generation: string, now: Date): Promise<void> {
    await expire.run(this.database, { organizationId, id, generation, now });
  }
}
