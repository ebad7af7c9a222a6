import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import type { DeletedAgent } from '../../../agents/index.js';
import {
  type ColumnsOf,
  Database,
  queryBuilder,
  rowsOf,
  toDate,
  type Transaction,
} from '../../../platform/database/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import type { DocumentScope, Upload } from '../domain/upload.js';
import { listUploads, takeTurns } from './uploads.sql.js';
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

/** What every customer's read leaves out: `pending` was not acknowledged yet, `removing` is gone. */
const SHOWN = ['processing', 'ready', 'failed'] as const;
/** Comes after every id. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type ListedRow = Omit<Upload, 'size' | 'scope' | 'createdAt'> & {
  readonly size: string;
  readonly scope: string | null;
  readonly createdAt: string;
};

const tables = queryBuilder<{ knowledge_uploads: ColumnsOf<typeof StoredUpload> }>();
/** A lock of the database is a number; this keeps those of other contexts apart. */
const TURNS_LOCK = 'knowledge.upload-turns:';

/** Uploads that have been in the state `from` since before `since`; they are then in `to`. */
export interface StaleStates {
  readonly from: 'pending' | 'processing' | 'removing';
  readonly to: 'processing' | 'removing';
  readonly since: Date;
}

/** Each write names the states that it begins from, so that it does not bring back an upload that was removed meanwhile. */
@Injectable()
export class UploadRepository {
  constructor(private readonly database: Database) {}

  /**
   * Holds the agent until the transaction ends, so that the number of its uploads is exact, and that it is not deleted
   * in between.
   * @returns how many it has; null where it is gone
   */
  async countHolding(transaction: Transaction, organizationId: string, agentId: string): Promise<number | null> {
    if (!(await agentExists(transaction, { organizationId, agentId }, 'for no key update'))) return null;
    return transaction.em.count(StoredUpload, { organizationId, agentId, status: { $ne: 'removing' } });
  }

  /** The row exists, but no query returns it until `finish`. */
  begin({ em }: Transaction, upload: NewUpload): Promise<unknown> {
    const { createdAt } = upload;
    const row = {
      ...upload,
      status: 'pending' as const,
      error: null,
      chunks: 0,
      bytes: 0,
      attempts: 0,
      turn: 'waiting' as const,
      changedAt: createdAt,
    };
    return em.insert(StoredUpload, row);
  }

  /** @returns false when the agent, or the upload, is gone */
  async finish(transaction: Transaction, { organizationId, agentId, id }: NewUpload, now: Date): Promise<boolean> {
    if (!(await agentExists(transaction, { organizationId, agentId }, 'for key share'))) return false;
    const changed = { status: 'processing' as const, changedAt: now };
    return (await transaction.em.nativeUpdate(StoredUpload, { organizationId, id, status: 'pending' }, changed)) > 0;
  }

  /** Newest first, in pages. Without entities, which take several times as long to make as the rows to read. */
  async list(organizationId: string, agentId: string, limit: number, before = LAST): Promise<Upload[]> {
    const rows = await listUploads.run<ListedRow>(this.database, { organizationId, agentId, before, limit });
    return rows.map((row) => ({
      ...row,
      size: Number(row.size),
      scope: scopeIn(row.scope),
      createdAt: toDate(row.createdAt),
    }));
  }

  /** Takes an upload away from every reader. @returns false when there was none */
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

  /** Once nothing is left that leads from it. */
  async delete(organizationId: string, id: string): Promise<void> {
    await this.database.write((em) =>
      em.nativeDelete(StoredUpload, { organizationId, id, status: { $in: ['pending', 'removing'] } }),
    );
  }

  /**
   * Counts an attempt before it is made, so that a file that ends its process every time comes to an end as well. One that
   * has failed is tried anew.
   * @returns null where there is nothing to parse
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

  /** The attempt was cut short by the end of its process: it counts as none. */
  async giveBack({ organizationId, id, attempt }: ClaimedUpload): Promise<void> {
    const where = { organizationId, id, status: 'processing', attempts: attempt } as const;
    await this.database.write((em) => em.nativeUpdate(StoredUpload, where, { attempts: attempt - 1 }));
  }

  /** In the transaction that stores the document. @returns false when agent or upload are gone, or it is ready already */
  async ready(
    transaction: Transaction,
    { organizationId, agentId, id }: ClaimedUpload,
    { chunks, bytes }: StoreUsage,
    now: Date,
  ): Promise<boolean> {
    if (!(await agentExists(transaction, { organizationId, agentId }, 'for key share'))) return false;
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
   * Gives their turn to the smallest files, of equal ones to those that have waited longest, as far as turns are free. The
   * lock lasts until the transaction ends: a concurrent caller sees what was given here.
   */
  async takeTurns(
    transaction: Transaction,
    organizationId: string,
    turns: number,
    now: Date,
  ): Promise<{ readonly agentId: string; readonly fileId: string }[]> {
    await transaction.lock(TURNS_LOCK + organizationId);
    return takeTurns.run(transaction, { organizationId, turns, now });
  }

  /** The file delays no other one any more, whatever becomes of it. */
  async endTurn({ em }: Transaction, organizationId: string, id: string): Promise<void> {
    await em.nativeUpdate(StoredUpload, { organizationId, id }, { turn: 'over' });
  }

  /** Of all organizations, those with files that have waited for a turn since before `since`. */
  async waitingSince(since: Date): Promise<string[]> {
    const waiting = tables
      .selectFrom('knowledge_uploads')
      .select('organization_id as organizationId')
      .distinct()
      .where('status', '=', 'processing')
      .where('turn', '=', 'waiting')
      .where('changed_at', '<', since.toISOString());
    return (await rowsOf(this.database, waiting)).map(({ organizationId }) => organizationId);
  }

  /** Of all organizations, the longest first. Those that wait for their turn are none. */
  async takeStale(
    { em }: Transaction,
    { from, to, since }: StaleStates,
    now: Date,
    limit: number,
  ): Promise<StoredUpload[]> {
    const where = {
      status: from,
      changedAt: { $lt: since },
      ...(from === 'processing' && { turn: { $ne: 'waiting' as const } }),
    };
    const stale = await em.find(StoredUpload, where, {
      orderBy: { changedAt: 'asc' },
      limit,
      lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE,
    });
    for (const upload of stale) em.assign(upload, { status: to, changedAt: now });
    return stale;
  }

  /** Deleted agents of all organizations that have left uploads behind. */
  ofDeletedAgents(): Promise<DeletedAgent[]> {
    const isDeleted = sql<boolean>`not exists (select 1 from agents where agents.id = knowledge_uploads.agent_id)`;
    const columns = ['organization_id as organizationId', 'agent_id as agentId'] as const;
    return rowsOf(this.database, tables.selectFrom('knowledge_uploads').select(columns).distinct().where(isDeleted));
  }

  /**
   * Takes the uploads of a deleted agent away from every reader. One whose content is being stored is left to its request,
   * unless it has been so since before `unfinishedSince`.
   * @returns false where the agent exists
   */
  softDeleteAll(agent: DeletedAgent, unfinishedSince: Date, now: Date): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if (await agentExists(transaction, agent, 'for key share')) return false;
      const { organizationId, agentId } = agent;
      const unfinished = { status: 'pending' as const, changedAt: { $lt: unfinishedSince } };
      const where = { organizationId, agentId, $or: [{ status: { $in: SHOWN } }, unfinished] };
      await transaction.em.nativeUpdate(StoredUpload, where, { status: 'removing', changedAt: now });
      return true;
    });
  }

  removedOf(
    { organizationId, agentId }: DeletedAgent,
    limit: number,
  ): Promise<Pick<Upload, 'id' | 'organizationId'>[]> {
    const where = { organizationId, agentId, status: 'removing' } as const;
    return this.database.read((em) =>
      em.find(StoredUpload, where, { fields: ['id', 'organizationId'], orderBy: { id: 'asc' }, limit }),
    );
  }
}

/** With the lock, the deletion of the agent waits for the end of the transaction. The table is another context's, so it has no entity here. */
async function agentExists(
  transaction: Transaction,
  { organizationId, agentId }: DeletedAgent,
  lock: 'for no key update' | 'for key share',
): Promise<boolean> {
  const agents = await transaction.query(
    `select 1 from agents where organization_id = $1::uuid and id = $2::uuid ${lock}`,
    [organizationId, agentId],
  );
  return agents.length > 0;
}

function scopeIn(json: string | null): DocumentScope | null {
  return json === null ? null : (JSON.parse(json) as DocumentScope);
}
