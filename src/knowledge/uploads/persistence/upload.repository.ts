import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { type DeletedAgent, lockAgent } from '../../../agents/index.js';
import { Database, toDate, type Transaction } from '../../../platform/database/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import type { DocumentScope, Upload } from '../domain/upload.js';
import { FIND_ORGANIZATIONS_WITH_WAITING_UPLOADS, LIST_UPLOADS, TAKE_SLOTS } from './uploads.sql.js';
import { StoredUpload } from './uploads.schema.js';

/** An upload that a job is about to parse. */
export interface ClaimedUpload extends Pick<
  Upload,
  'id' | 'organizationId' | 'agentId' | 'name' | 'contentType' | 'size' | 'scope'
> {
  /** This attempt's number, from 1. */
  readonly attempt: number;
}

export type NewUpload = Omit<Upload, 'status' | 'error' | 'chunks' | 'bytes'>;

/** The states that customers see: a `pending` upload is not acknowledged yet, and a `removing` one is deleted. */
const SHOWN = ['processing', 'ready', 'failed'] as const;
/** Sorts after all ids. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type ListedRow = Omit<Upload, 'size' | 'scope' | 'createdAt'> & {
  readonly size: string;
  readonly scope: string | null;
  readonly createdAt: string;
};

const SLOTS_LOCK = 'knowledge.upload-turns:';

/** A change of uploads that have been in the state `from` since before `since` to the state `to`. */
export interface StaleStates {
  readonly from: 'pending' | 'processing' | 'removing';
  readonly to: 'processing' | 'removing';
  readonly since: Date;
}

/** Each write names the states that it may start from, so that it does not restore an upload that another request removes at the same time. */
@Injectable()
export class UploadRepository {
  constructor(private readonly database: Database) {}

  /**
   * Locks the agent until the transaction ends, so that it is not deleted and no other request adds an upload to it.
   * @returns how many uploads the agent has; null if it does not exist
   */
  async lockAgentAndCount(transaction: Transaction, organizationId: string, agentId: string): Promise<number | null> {
    if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) return null;
    return transaction.em.count(StoredUpload, { organizationId, agentId, status: { $ne: 'removing' } });
  }

  /** The row exists, but no query returns it until `finish`. */
  begin({ em }: Transaction, upload: NewUpload): Promise<unknown> {
    const unparsed = { error: null, chunks: 0, bytes: 0, attempts: 0, slot: 'waiting' } as const;
    return em.insert(StoredUpload, { ...upload, ...unparsed, status: 'pending', changedAt: upload.createdAt });
  }

  /** @returns false if the agent or the upload was deleted */
  async finish(transaction: Transaction, { organizationId, agentId, id }: NewUpload, now: Date): Promise<boolean> {
    if ((await lockAgent(transaction, organizationId, agentId, 'shared')) === null) return false;
    const changed = { status: 'processing' as const, changedAt: now };
    return (await transaction.em.nativeUpdate(StoredUpload, { organizationId, id, status: 'pending' }, changed)) > 0;
  }

  /** Newest first, in pages. */
  async list(organizationId: string, agentId: string, limit: number, before = LAST): Promise<Upload[]> {
    const rows = await LIST_UPLOADS.run<ListedRow>(this.database, { organizationId, agentId, before, limit });
    return rows.map((row) => ({
      ...row,
      size: Number(row.size),
      scope: parseScope(row.scope),
      createdAt: toDate(row.createdAt),
    }));
  }

  /** Hides an upload from all reads. @returns false if it did not exist */
  async softDelete(
    { em }: Transaction,
    organizationId: string,
    agentId: string,
    id: string,
    now: Date,
  ): Promise<boolean> {
    const where = { organizationId, agentId, id, status: { $in: SHOWN } };
    return (await em.nativeUpdate(StoredUpload, where, { status: 'removing' as const, changedAt: now })) > 0;
  }

  /** Call it once the upload's file and document are deleted. */
  async delete(organizationId: string, id: string): Promise<void> {
    await this.database.write((em) =>
      em.nativeDelete(StoredUpload, { organizationId, id, status: { $in: ['pending', 'removing'] } }),
    );
  }

  /**
   * Counts an attempt before it is made, so that a file that crashes its process each time uses up its attempts too. An
   * upload that has failed starts again with the first attempt.
   * @returns null if the upload needs no parsing
   */
  async claim(organizationId: string, agentId: string, id: string, now: Date): Promise<ClaimedUpload | null> {
    return this.database.transaction(async ({ em }) => {
      const where = { organizationId, agentId, id, status: { $in: ['processing', 'failed'] as const } };
      const upload = await em.findOne(StoredUpload, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!upload) return null;
      const attempt = upload.status === 'failed' ? 1 : upload.attempts + 1;
      em.assign(upload, { attempts: attempt, status: 'processing', error: null, changedAt: now });
      return { ...upload, attempt };
    });
  }

  /** Does not count an attempt that the process interrupted because it stops. */
  async giveBack({ organizationId, id, attempt }: ClaimedUpload): Promise<void> {
    const where = { organizationId, id, status: 'processing', attempts: attempt } as const;
    await this.database.write((em) => em.nativeUpdate(StoredUpload, where, { attempts: attempt - 1 }));
  }

  /** Call it in the transaction that stores the document. @returns false if the agent or upload was deleted, or if the upload is already ready */
  async ready(
    transaction: Transaction,
    { organizationId, agentId, id }: ClaimedUpload,
    { chunks, bytes }: StoreUsage,
    now: Date,
  ): Promise<boolean> {
    if ((await lockAgent(transaction, organizationId, agentId, 'shared')) === null) return false;
    const changed = { status: 'ready' as const, chunks, bytes, changedAt: now };
    return (await transaction.em.nativeUpdate(StoredUpload, { organizationId, id, status: 'processing' }, changed)) > 0;
  }

  async fail({ organizationId, id }: Pick<Upload, 'organizationId' | 'id'>, error: string, now: Date): Promise<void> {
    const changed = { status: 'failed' as const, error, changedAt: now };
    await this.database.write((em) =>
      em.nativeUpdate(StoredUpload, { organizationId, id, status: 'processing' }, changed),
    );
  }

  /**
   * Gives the organization's free slots to its smallest files; of equal sizes, to those that have waited longest. The lock lasts
   * until the transaction ends, so that two callers do not give away the same slot.
   */
  async takeSlots(
    transaction: Transaction,
    organizationId: string,
    slots: number,
    now: Date,
  ): Promise<{ readonly agentId: string; readonly fileId: string }[]> {
    await transaction.lock(SLOTS_LOCK + organizationId);
    return TAKE_SLOTS.run(transaction, { organizationId, slots, now });
  }

  /** Frees the slot for another file. */
  async releaseSlot({ em }: Transaction, organizationId: string, id: string): Promise<void> {
    await em.nativeUpdate(StoredUpload, { organizationId, id }, { slot: 'over' });
  }

  /** The organizations whose files have waited for a slot since before `since`. */
  async findOrganizationsWaitingSince(since: Date): Promise<string[]> {
    const statement = FIND_ORGANIZATIONS_WITH_WAITING_UPLOADS;
    const found = await statement.run<{ organizationId: string }>(this.database, { since });
    return found.map(({ organizationId }) => organizationId);
  }

  /** Changes stale uploads of all organizations, oldest first. An upload that waits for a slot is not stale. */
  async takeStale(
    { em }: Transaction,
    { from, to, since }: StaleStates,
    now: Date,
    limit: number,
  ): Promise<StoredUpload[]> {
    const where = {
      status: from,
      changedAt: { $lt: since },
      ...(from === 'processing' && { slot: { $ne: 'waiting' as const } }),
    };
    const stale = await em.find(StoredUpload, where, {
      orderBy: { changedAt: 'asc' },
      limit,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    });
    for (const upload of stale) em.assign(upload, { status: to, changedAt: now });
    return stale;
  }

  /**
   * Hides the uploads of a deleted agent from all reads. It leaves `pending` uploads to the requests that store their
   * content, unless they are pending since before `unfinishedSince`.
   * @returns false if the agent exists
   */
  softDeleteAll(agent: DeletedAgent, unfinishedSince: Date, now: Date): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if ((await lockAgent(transaction, agent.organizationId, agent.agentId, 'shared')) !== null) return false;
      const { organizationId, agentId } = agent;
      const unfinished = { status: 'pending' as const, changedAt: { $lt: unfinishedSince } };
      const where = { organizationId, agentId, $or: [{ status: { $in: SHOWN } }, unfinished] };
      await transaction.em.nativeUpdate(StoredUpload, where, { status: 'removing', changedAt: now });
      return true;
    });
  }

  listRemoving(
    { organizationId, agentId }: DeletedAgent,
    limit: number,
  ): Promise<Pick<Upload, 'id' | 'organizationId'>[]> {
    const where = { organizationId, agentId, status: 'removing' } as const;
    return this.database.read((em) =>
      em.find(StoredUpload, where, { fields: ['id', 'organizationId'], orderBy: { id: 'asc' }, limit }),
    );
  }
}

function parseScope(json: string | null): DocumentScope | null {
  return json === null ? null : (JSON.parse(json) as DocumentScope);
}
