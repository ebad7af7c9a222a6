import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import type { DeletedAgent } from '../../../agents/index.js';
import { Database, queryBuilder, rowsOf, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import type { DriveSourceKind, SourceId } from '../domain/drive-source.js';
import { StoredDriveSource } from './drive.entities.js';

/** What a person has selected; it replaces what the agent had of the kind. */
export type Selection = Pick<StoredDriveSource, 'organizationId' | 'agentId' | 'kind' | 'accountId' | 'files'>;

/** A source while a step of its sync has the lease, as the step has stored it last. */
export type ClaimedSource = StoredDriveSource & { lease: string };

/** Another selection was made, the source was removed, or another worker has taken the sync over. */
export class LeaseLost extends Error {}

const tables = queryBuilder<{ drive_sources: { agent_id: string; organization_id: string } }>();
const ID = { fields: ['id', 'organizationId'] } as const;

@Injectable()
export class DriveSourceRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<StoredDriveSource | null> {
    return this.database.read((em) =>
      em.findOne(StoredDriveSource, { organizationId, agentId, kind, removedAt: null }),
    );
  }

  /**
   * Locks the agent until the transaction ends: it is not deleted before, and no other selection of it is stored meanwhile.
   * @returns whether it exists
   */
  lockAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<boolean> {
    return agentExists(transaction, organizationId, agentId, 'for no key update');
  }

  /** Begins its sync in place of one that is under way. The caller has locked the agent. @returns the source's id */
  async put({ em }: Transaction, selection: Selection, now: Date): Promise<string> {
    const { organizationId, agentId, kind } = selection;
    const begun = { ...beginning(now), ...selection, isFull: true, isTruncated: false, changeToken: null };
    const known = await em.findOne(
      StoredDriveSource,
      { organizationId, agentId, kind, removedAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (known) em.assign(known, begun);
    const fresh = { id: newId(), lastSuccessfulSyncAt: null, lastError: null, nextSyncAt: now, removedAt: null };
    const { id } =
      known ?? em.create(StoredDriveSource, { ...begun, ...fresh } as RequiredEntityData<StoredDriveSource>);
    await em.flush();
    return id;
  }

  /** Marks them, so that they read as absent. @returns their ids, for what is left of them to be removed */
  async remove(
    { em }: Transaction,
    where: { organizationId: string } & ({ accountId: string } | { agentId: string; kind?: DriveSourceKind }),
    now: Date,
  ): Promise<string[]> {
    const removed = { removedAt: now, lease: null, state: 'SUSPENDED', accountId: null } as const;
    const sources = await em.find(
      StoredDriveSource,
      { ...where, removedAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    for (const source of sources) em.assign(source, removed);
    await em.flush();
    return sources.map(({ id }) => id);
  }

  /** Of any organization. */
  removed(limit: number): Promise<SourceId[]> {
    return this.database.read((em) => em.find(StoredDriveSource, { removedAt: { $ne: null } }, { ...ID, limit }));
  }

  /** Removed ones of an agent. */
  removedOf(organizationId: string, agentId: string): Promise<SourceId[]> {
    return this.database.read((em) =>
      em.find(StoredDriveSource, { organizationId, agentId, removedAt: { $ne: null } }, ID),
    );
  }

  /** The last of a removed one, with its items and its grant. */
  async drop({ em }: Transaction, { organizationId, id }: SourceId): Promise<void> {
    await em.nativeDelete(StoredDriveSource, { organizationId, id, removedAt: { $ne: null } });
  }

  /** Deleted agents of any organization that have left sources behind. */
  ofDeletedAgents(limit: number): Promise<DeletedAgent[]> {
    const isDeleted = sql<boolean>`not exists (select 1 from agents where agents.id = drive_sources.agent_id)`;
    const columns = ['agent_id as agentId', 'organization_id as organizationId'] as const;
    return rowsOf(
      this.database,
      tables.selectFrom('drive_sources').select(columns).distinct().where(isDeleted).limit(limit),
    );
  }

  /** Claims a step of its sync until `until`. @returns null where nothing is to be done, or another step has its lease */
  async claim({ organizationId, id }: SourceId, now: Date, until: Date): Promise<ClaimedSource | null> {
    return this.database.transaction(async (transaction) => {
      const { em } = transaction;
      const where = {
        organizationId,
        id,
        state: 'IN_PROGRESS' as const,
        removedAt: null,
        $or: [{ lease: null }, { dueAt: { $lt: now } }],
      };
      const source = await em.findOne(StoredDriveSource, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      // Unlocked: a selection locks the agent before the source.
      if (!source || !(await agentExists(transaction, organizationId, source.agentId))) return null;
      const lease = newId();
      em.assign(source, { lease, dueAt: until });
      await em.flush();
      return { ...source, lease };
    });
  }

  /** Runs `work` in a transaction during which the step keeps its lease. @throws LeaseLost */
  whileHeld<Result>(source: ClaimedSource, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.database.transaction(async (transaction) => {
      if (!(await this.isHeld(transaction, source))) throw new LeaseLost();
      return work(transaction);
    });
  }

  /** Whether the step has its lease; if so, until the end of the transaction. */
  async isHeld({ em }: Pick<Transaction, 'em'>, source: ClaimedSource): Promise<boolean> {
    return (
      (await em.findOne(StoredDriveSource, heldBy(source), { fields: ['id'], lockMode: LockMode.PESSIMISTIC_READ })) !==
      null
    );
  }

  /** `source` has the changes once they are committed. @throws LeaseLost */
  async update(source: ClaimedSource, changes: Partial<StoredDriveSource>, transaction?: Transaction): Promise<void> {
    const reader = transaction ?? this.database;
    const updated = await reader.read((em) => em.nativeUpdate(StoredDriveSource, heldBy(source), changes));
    if (updated === 0) throw new LeaseLost();
    const note = (): unknown => Object.assign(source, changes);
    if (transaction) transaction.onCommit(note);
    else note();
  }

  /** Takes the lease from steps of any organization that were due, or had to renew their lease, before `before`. Their next step is due at `until`. */
  async takeOverdue({ em }: Transaction, before: Date, until: Date, limit: number): Promise<SourceId[]> {
    const where = { state: 'IN_PROGRESS', removedAt: null, dueAt: { $lt: before } } as const;
    const overdue = await em.find(StoredDriveSource, where, {
      orderBy: { dueAt: 'asc' },
      limit,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    });
    for (const source of overdue) em.assign(source, { lease: null, dueAt: until });
    return overdue;
  }

  /** Begins the syncs that are due, of any organization. */
  async beginDue({ em }: Transaction, now: Date, limit: number): Promise<SourceId[]> {
    const where = { state: { $ne: 'IN_PROGRESS' }, removedAt: null, nextSyncAt: { $lte: now } } as const;
    const due = await em.find(StoredDriveSource, where, {
      orderBy: { nextSyncAt: 'asc' },
      limit,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    });
    for (const source of due) em.assign(source, beginning(now));
    return due;
  }
}

/** The table is another context's, so it has no entity here. */
async function agentExists(
  transaction: Transaction,
  organizationId: string,
  agentId: string,
  lock: '' | 'for no key update' = '',
): Promise<boolean> {
  const agents = await transaction.query(
    `select 1 from agents where organization_id = $1::uuid and id = $2::uuid ${lock}`,
    [organizationId, agentId],
  );
  return agents.length > 0;
}

function beginning(now: Date) {
  return {
    state: 'IN_PROGRESS',
    startedAt: now,
    syncId: newId(),
    phase: 'begin',
    changePages: 0,
    stalls: 0,
    lease: null,
    dueAt: now,
  } as const;
}

function heldBy({ organizationId, id, lease }: ClaimedSource) {
  return { organizationId, id, lease };
}
