import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { FIND_AGENT } from '../../index/persistence/agents.sql.js';
import type { DriveSourceKind, SourceId } from '../domain/drive-source.js';
import { StoredDriveSource } from './drive.entities.js';

/** The files that a person selected. They replace the agent's selection of the same kind. */
export type Selection = Pick<StoredDriveSource, 'organizationId' | 'agentId' | 'kind' | 'accountId' | 'files'>;

/** A source whose lease a step of its sync has, as the step stored it last. */
export type ClaimedSource = StoredDriveSource & { lease: string };

/** The files were selected again, the source was removed, or another worker has taken over the sync. */
export class LeaseLost extends Error {}

const ID = { fields: ['id', 'organizationId'] } as const;
/** Locks the rows and skips those that another transaction has locked. */
const SKIP_LOCKED = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;

@Injectable()
export class DriveSourceRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, agentId: string, kind: DriveSourceKind): Promise<StoredDriveSource | null> {
    const where = { organizationId, agentId, kind, removedAt: null };
    return this.database.read((em) => em.findOne(StoredDriveSource, where));
  }

  /** Stores the selection and starts its sync, which replaces one in progress. The caller has locked the agent. @returns the source's id */
  async put({ em }: Transaction, selection: Selection, now: Date): Promise<string> {
    const { organizationId, agentId, kind } = selection;
    const begun = { ...newSync(now), ...selection, isFull: true, isTruncated: false, changeToken: null };
    const where = { organizationId, agentId, kind, removedAt: null };
    const known = await em.findOne(StoredDriveSource, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (known) em.assign(known, begun);
    const fresh = { id: newId(), lastSuccessfulSyncAt: null, lastError: null, nextSyncAt: now, removedAt: null };
    const { id } =
      known ?? em.create(StoredDriveSource, { ...begun, ...fresh } as RequiredEntityData<StoredDriveSource>);
    await em.flush();
    return id;
  }

  /** Marks sources as removed, so that they are no longer found. @returns their ids, so that the caller has their data deleted */
  async markRemoved(
    { em }: Transaction,
    where: { organizationId: string } & ({ accountId: string } | { agentId: string; kind?: DriveSourceKind }),
    now: Date,
  ): Promise<string[]> {
    const removed = { removedAt: now, lease: null, state: 'SUSPENDED', accountId: null } as const;
    const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const sources = await em.find(StoredDriveSource, { ...where, removedAt: null }, locked);
    for (const source of sources) em.assign(source, removed);
    await em.flush();
    return sources.map(({ id }) => id);
  }

  /** Removed sources of any organization. */
  removed(limit: number): Promise<SourceId[]> {
    return this.database.read((em) => em.find(StoredDriveSource, { removedAt: { $ne: null } }, { ...ID, limit }));
  }

  /** Removed sources of an agent. */
  removedOf(organizationId: string, agentId: string): Promise<SourceId[]> {
    const where = { organizationId, agentId, removedAt: { $ne: null } };
    return this.database.read((em) => em.find(StoredDriveSource, where, ID));
  }

  /** Deletes a removed source with its items and its grant. */
  async delete({ em }: Transaction, { organizationId, id }: SourceId): Promise<void> {
    await em.nativeDelete(StoredDriveSource, { organizationId, id, removedAt: { $ne: null } });
  }

  /** Leases the source to a step of its sync until `until`. @returns null where there is no sync to do, or another step has the lease */
  async claim({ organizationId, id }: SourceId, now: Date, until: Date): Promise<ClaimedSource | null> {
    return this.database.transaction(async (transaction) => {
      const { em } = transaction;
      const inProgress = { organizationId, id, state: 'IN_PROGRESS' as const, removedAt: null };
      const where = { ...inProgress, $or: [{ lease: null }, { dueAt: { $lt: now } }] };
      const source = await em.findOne(StoredDriveSource, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!source) return null;
      // Without a lock on the agent: `put` locks the agent before the source, so the reverse order could deadlock.
      const agent = await FIND_AGENT.run(transaction, { organizationId, agentId: source.agentId });
      if (agent.length === 0) return null;
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

  /** Whether the step has its lease; if so, it keeps it until the transaction ends. */
  async isHeld({ em }: Pick<Transaction, 'em'>, source: ClaimedSource): Promise<boolean> {
    const locked = { fields: ['id'], lockMode: LockMode.PESSIMISTIC_READ } as const;
    return (await em.findOne(StoredDriveSource, heldBy(source), locked)) !== null;
  }

  /** `source` gets the changes once they are committed. @throws LeaseLost */
  async update(source: ClaimedSource, changes: Partial<StoredDriveSource>, transaction?: Transaction): Promise<void> {
    const reader = transaction ?? this.database;
    const updated = await reader.read((em) => em.nativeUpdate(StoredDriveSource, heldBy(source), changes));
    if (updated === 0) throw new LeaseLost();
    const apply = (): unknown => Object.assign(source, changes);
    if (transaction) transaction.onCommit(apply);
    else apply();
  }

  /** Takes overdue sources of any organization: the step, or the renewal of its lease, was due before `before`. Their next step is due at `until`. */
  async takeOverdue({ em }: Transaction, before: Date, until: Date, limit: number): Promise<SourceId[]> {
    const where = { state: 'IN_PROGRESS', removedAt: null, dueAt: { $lt: before } } as const;
    const overdue = await em.find(StoredDriveSource, where, { orderBy: { dueAt: 'asc' }, limit, ...SKIP_LOCKED });
    for (const source of overdue) em.assign(source, { lease: null, dueAt: until });
    return overdue;
  }

  /** Begins the syncs that are due, of any organization. */
  async beginDue({ em }: Transaction, now: Date, limit: number): Promise<SourceId[]> {
    const where = { state: { $ne: 'IN_PROGRESS' }, removedAt: null, nextSyncAt: { $lte: now } } as const;
    const due = await em.find(StoredDriveSource, where, { orderBy: { nextSyncAt: 'asc' }, limit, ...SKIP_LOCKED });
    for (const source of due) em.assign(source, newSync(now));
    return due;
  }
}

function newSync(now: Date) {
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
