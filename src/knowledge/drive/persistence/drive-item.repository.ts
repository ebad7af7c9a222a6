import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, queryBuilder, rowsOf, type Transaction } from '../../../platform/database/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { type FoundItem, merged } from '../domain/drive-item.js';
import type { SourceId, SyncTotals } from '../domain/drive-source.js';
import { type DriveItem, StoredDriveItem } from './drive.entities.js';
import type { ClaimedSource } from './drive-source.repository.js';

export type ItemOutcome = Pick<DriveItem, 'result' | 'error' | 'documentId'>;

const WRONG = { result: { $in: ['failed', 'unreadable', 'gone'] } } as const;

const tables = queryBuilder<{
  drive_items: { organization_id: string; source_id: string; document_id: string };
  knowledge_documents: { id: string; organization_id: string };
}>();

/** The files, folders and shortcuts of sources. Only the step that holds the source's lease writes them. */
@Injectable()
export class DriveItemRepository {
  constructor(private readonly database: Database) {}

  /** Those with work left: what was found to be gone, look-ups and lists come before files, since they tell what is to be fetched. */
  async next(source: ClaimedSource, limit: number): Promise<DriveItem[]> {
    const where = { ...itemsOf(source), todo: { $ne: null } };
    // In reverse order of the alphabet: remove, look_up, list, fetch.
    const items = await this.database.read((em) =>
      em.find(StoredDriveItem, where, { orderBy: { todo: 'desc', fileId: 'asc' }, limit }),
    );
    // A listing may change what was read here of a file, so files wait for the step after it.
    return items[0]?.todo === 'fetch' ? items : items.filter(({ todo }) => todo !== 'fetch');
  }

  /** Counts an attempt before it is made. */
  async countAttempt(source: ClaimedSource, { fileId, attempts }: DriveItem): Promise<void> {
    await this.database.write((em) =>
      em.nativeUpdate(StoredDriveItem, { ...itemsOf(source), fileId }, { attempts: attempts + 1 }),
    );
  }

  /** What failed last time, or was gone, is tried again; what has work left begins anew. */
  async resume({ em }: Transaction, source: ClaimedSource): Promise<void> {
    const [items, anew] = [itemsOf(source), { attempts: 0, pageToken: null, pages: 0 }];
    await em.nativeUpdate(StoredDriveItem, { ...items, todo: { $ne: null } }, anew);
    await em.nativeUpdate(
      StoredDriveItem,
      { ...items, result: { $in: ['failed', 'gone'] } },
      { ...anew, todo: 'look_up' },
    );
    await em.nativeUpdate(StoredDriveItem, { ...items, result: 'failed', kind: 'file' }, { todo: 'fetch' });
  }

  /** The listing that begins now starts over what an earlier one did not complete. */
  async forgetListing({ em }: Transaction, source: ClaimedSource): Promise<void> {
    const where = { ...itemsOf(source), todo: { $in: ['look_up', 'list', 'remove'] as const } };
    await em.nativeUpdate(StoredDriveItem, where, { todo: null, pageToken: null, pages: 0 });
  }

  /**
   * Adds entries that a sync found, each id once.
   * @param again also those that this sync has seen already
   */
  async add({ em }: Transaction, source: ClaimedSource, found: readonly FoundItem[], again = false): Promise<void> {
    const known = await this.known(
      { em },
      source,
      found.map(({ fileId }) => fileId),
      true,
    );
    for (const item of found) {
      const before = known.get(item.fileId);
      const place = { sourceId: source.id, organizationId: source.organizationId, seenIn: source.syncId };
      if (!before)
        em.create(StoredDriveItem, {
          ...item,
          ...place,
          pageToken: null,
          pages: 0,
          attempts: 0,
          result: null,
          error: null,
          documentId: null,
        });
      else if (again || before.seenIn !== source.syncId)
        em.assign(before, { ...merged(before, item, again), seenIn: source.syncId });
    }
    await em.flush();
  }

  /** Its work is done. @returns false when it is gone */
  async settle({ em }: Transaction, source: ClaimedSource, fileId: string, outcome: ItemOutcome): Promise<boolean> {
    const settled = { ...outcome, todo: null, attempts: 0 };
    return (await em.nativeUpdate(StoredDriveItem, { ...itemsOf(source), fileId }, settled)) > 0;
  }

  /** @param pageToken null at the end of the folder */
  async turnPage(
    { em }: Transaction,
    source: ClaimedSource,
    { fileId, pages }: DriveItem,
    pageToken: string | null,
  ): Promise<void> {
    const turned = { pageToken, pages: pages + 1, attempts: 0, todo: pageToken === null ? null : ('list' as const) };
    await em.nativeUpdate(StoredDriveItem, { ...itemsOf(source), fileId }, turned);
  }

  async isListing({ em }: Transaction, source: ClaimedSource): Promise<boolean> {
    return (await em.count(StoredDriveItem, { ...itemsOf(source), todo: { $in: ['look_up', 'list'] } })) > 0;
  }

  async removeUnseen({ em }: Transaction, source: ClaimedSource): Promise<void> {
    await em.nativeUpdate(
      StoredDriveItem,
      { ...itemsOf(source), seenIn: { $ne: source.syncId } },
      { todo: 'remove', attempts: 0 },
    );
  }

  async removeLater({ em }: Transaction, source: ClaimedSource, fileIds: readonly string[]): Promise<void> {
    await em.nativeUpdate(
      StoredDriveItem,
      { ...itemsOf(source), fileId: { $in: fileIds } },
      { todo: 'remove', attempts: 0 },
    );
  }

  async drop({ em }: Transaction, source: ClaimedSource, fileId: string): Promise<void> {
    await em.nativeDelete(StoredDriveItem, { ...itemsOf(source), fileId });
  }

  /** @param withRemoved also those that are about to be removed */
  async known(
    { em }: Pick<Transaction, 'em'>,
    source: ClaimedSource,
    fileIds: readonly string[],
    withRemoved = false,
  ): Promise<Map<string, DriveItem>> {
    const items = await em.find(StoredDriveItem, { ...itemsOf(source), fileId: { $in: fileIds } });
    return new Map(items.filter(({ todo }) => withRemoved || todo !== 'remove').map((item) => [item.fileId, item]));
  }

  /** In a full sync, only items that it has seen count. */
  async counts(
    { em }: Transaction,
    source: ClaimedSource,
  ): Promise<{ readonly files: number; readonly folders: number }> {
    const counted = { ...itemsOf(source), ...(source.isFull && { seenIn: source.syncId }) };
    const files = await em.count(StoredDriveItem, { ...counted, kind: { $in: ['file', 'unknown'] } });
    return { files, folders: await em.count(StoredDriveItem, { ...counted, kind: { $in: ['folder', 'shortcut'] } }) };
  }

  totals(source: ClaimedSource): Promise<SyncTotals> {
    return this.database.read(async (em) => {
      const indexed = await em.count(StoredDriveItem, { ...itemsOf(source), documentId: { $ne: null } });
      const wrong = await em.count(StoredDriveItem, { ...itemsOf(source), ...WRONG });
      const first = await em.findOne(
        StoredDriveItem,
        { ...itemsOf(source), ...WRONG },
        { orderBy: { name: 'asc', fileId: 'asc' } },
      );
      return {
        indexed,
        wrong,
        firstWrong: first && { name: first.name, error: first.error ?? '' },
        isTruncated: source.isTruncated,
      };
    });
  }

  async documents(source: SourceId, limit: number): Promise<string[]> {
    const where = { ...itemsOf(source), documentId: { $ne: null } };
    const items = await this.database.read((em) => em.find(StoredDriveItem, where, { fields: ['documentId'], limit }));
    return items.flatMap(({ documentId }) => documentId ?? []);
  }

  async usage({ organizationId, id }: SourceId): Promise<StoreUsage> {
    const used = tables
      .selectFrom('drive_items as i')
      .innerJoin('knowledge_documents as d', (join) =>
        join.onRef('d.id', '=', 'i.document_id').onRef('d.organization_id', '=', 'i.organization_id'),
      )
      .select([
        sql<string>`coalesce(sum(d.chunks), 0)::text`.as('chunks'),
        sql<string>`coalesce(sum(d.bytes::bigint), 0)::text`.as('bytes'),
      ])
      .where('i.organization_id', '=', organizationId)
      .where('i.source_id', '=', id);
    const [row] = await rowsOf(this.database, used);
    return { chunks: Number(row?.chunks), bytes: Number(row?.bytes) };
  }

  async forgetDocuments(source: SourceId, ids: readonly string[]): Promise<void> {
    await this.database.write((em) =>
      em.nativeDelete(StoredDriveItem, { ...itemsOf(source), documentId: { $in: ids } }),
    );
  }
}

function itemsOf({ organizationId, id: sourceId }: SourceId) {
  return { organizationId, sourceId };
}
