import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import type { SelectedFile } from '../domain/drive-file.js';
import type { DriveSource, DriveSourceKind } from '../domain/drive-source.js';
import type { SyncState } from '../../index/domain/sync-status.js';
import { FILES } from './drive.entities.js';

/** What a person has selected; it takes the place of what the agent had of the kind. */
export interface NewSelection {
  /** Of a source that is new; of a known one the id stays. */
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly kind: DriveSourceKind;
  readonly accountId: string | null;
  readonly files: readonly SelectedFile[];
  readonly syncId: string;
  readonly now: Date;
}

export interface SourceId {
  readonly organizationId: string;
  readonly id: string;
}

interface Row {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly kind: DriveSourceKind;
  readonly accountId: string | null;
  readonly files: string;
  readonly state: SyncState;
  readonly lastSuccessfulSyncAt: string | null;
  readonly lastError: string | null;
  readonly startedAt: string;
}

/** As text where the drivers read a type differently. */
export const SOURCE_COLUMNS = `id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId", kind,
  account_id::text as "accountId", files::text as files`;

const OF_AGENT = `${SOURCE_COLUMNS}, state, last_successful_sync_at as "lastSuccessfulSyncAt", last_error as "lastError",
  started_at as "startedAt"`;

const find = statement(
  { organizationId: 'uuid', agentId: 'uuid', kind: 'text' },
  (p) => `select ${OF_AGENT} from drive_sources
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and kind = ${p.kind} and removed_at is null`,
);

const put = statement(
  { id: 'uuid', organizationId: 'uuid', agentId: 'uuid', kind: 'text', accountId: 'uuid', files: 'jsonb', syncId: 'uuid', now: 'timestamptz' },
  (p) => `insert into drive_sources (id, organization_id, agent_id, kind, account_id, files, state, started_at, sync_id, phase,
      is_full, is_truncated, change_pages, stalls, due_at, next_sync_at)
    values (${p.id}, ${p.organizationId}, ${p.agentId}, ${p.kind}, ${p.accountId}, ${p.files}, 'IN_PROGRESS', ${p.now}, ${p.syncId}, 'begin',
      true, false, 0, 0, ${p.now}, ${p.now})
    on conflict (agent_id, kind) where removed_at is null do update set
      account_id = excluded.account_id, files = excluded.files, state = 'IN_PROGRESS', started_at = excluded.started_at,
      sync_id = excluded.sync_id, phase = 'begin', is_full = true, is_truncated = false, change_token = null, change_pages = 0,
      stalls = 0, lease = null, due_at = excluded.due_at
    where drive_sources.organization_id = excluded.organization_id
    returning id::text as id`,
);

const agentIsThere = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `select id from agents where organization_id = ${p.organizationId} and id = ${p.agentId} for key share`,
);

const REMOVED = 'set removed_at = now(), lease = null, state = \'SUSPENDED\', account_id = null';

const removeOfAccount = statement(
  { organizationId: 'uuid', accountId: 'uuid' },
  (p) => `update drive_sources ${REMOVED}
    where organization_id = ${p.organizationId} and account_id = ${p.accountId} returning id::text as id`,
);

const removeOfKind = statement(
  { organizationId: 'uuid', agentId: 'uuid', kind: 'text' },
  (p) => `update drive_sources ${REMOVED}
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and kind = ${p.kind} and removed_at is null returning id::text as id`,
);

const removeOfAgent = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `update drive_sources ${REMOVED}
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
      and not exists (select 1 from agents where id = drive_sources.agent_id) returning id::text as id`,
);

const removed = statement(
  { limit: 'integer' },
  (p) => `select id::text as id, organization_id::text as "organizationId" from drive_sources where removed_at is not null limit ${p.limit}`,
);

const isRemoved = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `select id from drive_sources where organization_id = ${p.organizationId} and id = ${p.id} and removed_at is not null`,
);

const drop = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `delete from drive_sources where organization_id = ${p.organizationId} and id = ${p.id} and removed_at is not null`,
);

const ofGoneAgents = statement(
  { limit: 'integer' },
  (p) => `select distinct agent_id::text as "agentId", organization_id::text as "organizationId" from drive_sources
    where not exists (select 1 from agents where id = drive_sources.agent_id) limit ${p.limit}`,
);

@Injectable()
export class DriveSourceRepository {
  constructor(private readonly database: Database) {}

  async find(organizationId: string, agentId: string, kind: DriveSourceKind, source: SqlExecutor = this.database): Promise<DriveSource | null> {
    const [row] = await find.run<Row>(source, { organizationId, agentId, kind });
    return row ? sourceOf(row) : null;
  }

  /** Also keeps the agent from being deleted before the transaction ends. */
  async agentIsThere(transaction: Transaction, organizationId: string, agentId: string): Promise<boolean> {
    return (await agentIsThere.run(transaction, { organizationId, agentId })).length > 0;
  }

  /** A sync that is under way comes to nothing. @returns the source's id */
  async put(transaction: Transaction, selection: NewSelection): Promise<string> {
    const [row] = await put.run<{ id: string }>(transaction, selection);
    if (!row) throw new Error('A drive source of the agent belongs to another organization');
    return row.id;
  }

  /** From then on they read as absent. @returns their ids, for what is left of them to be removed */
  async removeOfAccount(transaction: Transaction, organizationId: string, accountId: string): Promise<string[]> {
    return idsOf(await removeOfAccount.run(transaction, { organizationId, accountId }));
  }

  async removeOfKind(transaction: Transaction, organizationId: string, agentId: string, kind: DriveSourceKind): Promise<string[]> {
    return idsOf(await removeOfKind.run(transaction, { organizationId, agentId, kind }));
  }

  /** Those of an agent that is gone; of one that is there, none. */
  async removeOfAgent(organizationId: string, agentId: string): Promise<string[]> {
    return idsOf(await removeOfAgent.run(this.database, { organizationId, agentId }));
  }

  /** Of any organization. */
  removed(limit: number): Promise<SourceId[]> {
    return removed.run<SourceId>(this.database, { limit });
  }

  async isRemoved({ organizationId, id }: SourceId): Promise<boolean> {
    return (await isRemoved.run(this.database, { organizationId, id })).length > 0;
  }

  /** The last of a removed one, with its items and its grant. */
  async drop(transaction: Transaction, { organizationId, id }: SourceId): Promise<void> {
    await drop.run(transaction, { organizationId, id });
  }

  /** Agents of any organization that are gone and have left sources behind. */
  ofGoneAgents(limit: number): Promise<{ readonly organizationId: string; readonly agentId: string }[]> {
    return ofGoneAgents.run(this.database, { limit });
  }
}

function idsOf(rows: readonly object[]): string[] {
  return rows.map((row) => (row as { id: string }).id);
}

function sourceOf({ files, state, lastSuccessfulSyncAt, lastError, startedAt, ...source }: Row): DriveSource {
  return {
    ...source,
    files: FILES.readText(files, source.id),
    sync: {
      state,
      lastError,
      lastSuccessfulSyncAt: lastSuccessfulSyncAt === null ? null : toDate(lastSuccessfulSyncAt),
      startedAt: toDate(startedAt),
    },
  };
}
