import { Injectable } from '@nestjs/common';
import { Database, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import type { DocumentScope, Upload } from '../domain/upload.js';
import { StoredUpload } from './uploads.schema.js';

/** An upload that a job is about to parse. */
export interface ClaimedUpload extends Pick<Upload, 'id' | 'organizationId' | 'agentId' | 'name' | 'contentType' | 'size' | 'scope'> {
  /** This attempt's number, from 1. */
  readonly attempt: number;
}

export type NewUpload = Omit<Upload, 'status' | 'error' | 'chunks' | 'bytes'>;

/** What every customer's read leaves out: `pending` was not acknowledged yet, `removing` is gone. */
const SHOWN = ['processing', 'ready', 'failed'] as const;
/** Comes after every id. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type ListedRow = Omit<Upload, 'size' | 'scope' | 'createdAt'> & { readonly size: string; readonly scope: string | null; readonly createdAt: string };

const list = statement(
  { organizationId: 'uuid', agentId: 'uuid', before: 'uuid', limit: 'integer' },
  (p) => `select id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId", name, content_type as "contentType",
      size::text as size, scope::text as scope, status, error, chunks, bytes, created_at as "createdAt"
    from knowledge_uploads
    where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and id < ${p.before} and status in ('processing', 'ready', 'failed')
    order by id desc limit ${p.limit}`,
);

/** Each write names the states that it begins from: of an upload that was removed meanwhile nothing comes back. */
@Injectable()
export class UploadRepository {
  constructor(private readonly database: Database) {}

  /**
   * Holds the agent until the transaction ends, so that the number of its uploads is exact, and that it is not deleted
   * in between.
   * @returns how many it has; null where it is gone
   */
  async countHolding(transaction: Transaction, organizationId: string, agentId: string): Promise<number | null> {
    const [agent] = await transaction.query(
      'select 1 from agents where organization_id = $1::uuid and id = $2::uuid for no key update',
      [organizationId, agentId],
    );
    if (!agent) return null;
    const [row] = await transaction.query<{ count: number }>(
      `select count(*)::integer as count from knowledge_uploads
        where organization_id = $1::uuid and agent_id = $2::uuid and status <> 'removing'`,
      [organizationId, agentId],
    );
    return row?.count ?? 0;
  }

  /** Known, but not there for anybody until `finish`. */
  begin({ em }: Transaction, upload: NewUpload): Promise<unknown> {
    const { createdAt } = upload;
    const row = { ...upload, status: 'pending' as const, error: null, chunks: 0, bytes: 0, attempts: 0, turn: 'waiting' as const, changedAt: createdAt };
    return em.insert(StoredUpload, row);
  }

  /** @returns false when the agent, or the upload, is gone */
  async finish(transaction: Transaction, { organizationId, agentId, id }: NewUpload, now: Date): Promise<boolean> {
    if (!(await this.holdsAgent(transaction, organizationId, agentId))) return false;
    const changed = { status: 'processing' as const, changedAt: now };
    return (await transaction.em.nativeUpdate(StoredUpload, { organizationId, id, status: 'pending' }, changed)) > 0;
  }

  /** Newest first, in pages. Without entities, which take several times as long to make as the rows to read. */
  async list(organizationId: string, agentId: string, limit: number, before = LAST): Promise<Upload[]> {
    const rows = await list.run<ListedRow>(this.database, { organizationId, agentId, before, limit });
    return rows.map((row) => ({ ...row, size: Number(row.size), scope: scopeIn(row.scope), createdAt: toDate(row.createdAt) }));
  }

  /** Takes an upload away from every reader. @returns false when there was none */
  async softDelete({ em }: Transaction, organizationId: string, agentId: string, id: string, now: Date): Promise<boolean> {
    const where = { organizationId, agentId, id, status: { $in: SHOWN } };
    return (await em.nativeUpdate(StoredUpload, where, { status: 'removing' as const, changedAt: now })) > 0;
  }

  /** @returns null for one that is not to be removed, and for one whose removal has ended */
  async findRemoved(organizationId: string, id: string): Promise<Pick<Upload, 'id' | 'organizationId'> | null> {
    return this.database.read((em) => em.findOne(StoredUpload, { organizationId, id, status: 'removing' }, { fields: ['id', 'organizationId'] }));
  }

  /** Once nothing is left that leads from it. */
  async delete(organizationId: string, id: string): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredUpload, { organizationId, id, status: { $in: ['pending', 'removing'] } }));
  }

  /**
   * Counts an attempt before it is made, so that a file that ends its process every time comes to an end as well. One that
   * has failed is tried anew.
   * @returns null where there is nothing to parse
   */
  async claim(organizationId: string, agentId: string, id: string, now: Date): Promise<ClaimedUpload | null> {
    const [row] = await this.database.query<Omit<ClaimedUpload, 'size' | 'scope'> & { size: string; scope: string | null }>(
      `update knowledge_uploads
          set attempts = case when status = 'failed' then 1 else attempts + 1 end, status = 'processing', error = null, changed_at = $4::timestamptz
        where organization_id = $1::uuid and agent_id = $2::uuid and id = $3::uuid and status in ('processing', 'failed')
        returning id::text as id, organization_id::text as "organizationId", agent_id::text as "agentId", name,
                  content_type as "contentType", size::text as size, scope::text as scope, attempts as attempt`,
      [organizationId, agentId, id, now.toISOString()],
    );
    if (!row) return null;
    return { ...row, size: Number(row.size), scope: scopeIn(row.scope) };
  }

  /** The attempt was cut short by its process's own end: it counts as none. */
  async giveBack(organizationId: string, id: string): Promise<void> {
    await this.database.query(
      `update knowledge_uploads set attempts = greatest(attempts - 1, 0)
        where organization_id = $1::uuid and id = $2::uuid and status = 'processing'`,
      [organizationId, id],
    );
  }

  /** In the transaction that stores the document. @returns false when agent or upload are gone, or it is ready already */
  async ready(transaction: Transaction, { organizationId, agentId, id }: ClaimedUpload, { chunks, bytes }: StoreUsage, now: Date): Promise<boolean> {
    if (!(await this.holdsAgent(transaction, organizationId, agentId))) return false;
    const changed = { status: 'ready' as const, chunks, bytes, changedAt: now };
    return (await transaction.em.nativeUpdate(StoredUpload, { organizationId, id, status: 'processing' }, changed)) > 0;
  }

  async fail({ organizationId, id }: Pick<Upload, 'organizationId' | 'id'>, error: string, now: Date): Promise<void> {
    const changed = { status: 'failed' as const, error, changedAt: now };
    await this.database.write((em) => em.nativeUpdate(StoredUpload, { organizationId, id, status: 'processing' }, changed));
  }

  /** The agent's deletion waits for the transaction's end, and what that leaves behind is found by what follows it. */
  private async holdsAgent(transaction: Transaction, organizationId: string, agentId: string): Promise<boolean> {
    const rows = await transaction.query(
      'select 1 from agents where organization_id = $1::uuid and id = $2::uuid for key share',
      [organizationId, agentId],
    );
    return rows.length > 0;
  }
}

function scopeIn(json: string | null): DocumentScope | null {
  return json === null ? null : (JSON.parse(json) as DocumentScope);
}
