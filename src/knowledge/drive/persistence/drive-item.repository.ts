import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { type FoundItem, merge } from '../domain/drive-item.js';
import type { SourceId, SyncTotals } from '../domain/drive-source.js';
import { type DriveItem, StoredDriveItem } from './drive.entities.js';
import type { ClaimedSource } from './drive-source.repository.js';
import { USAGE } from './drive-sources.sql.js';

export type ItemOutcome = Pick<DriveItem, 'result' | 'error' | 'documentId'>;

/** The files, folders and shortcuts of sources. Only the step that has the source's lease writes them. */
@Injectable()
export class DriveItemRepository {
  constructor(private readonly database: Database) {}

  /** Items with work. Removals, look-ups and listings come before files, because they decide which files are fetched. */
  async next(source: ClaimedSource, limit: number): Promise<DriveItem[]> {
    const where = { ...itemsOf(source), todo: { $ne: null } };
    // In reverse alphabetical order: remove, look_up, list, fetch.
    const first = { orderBy: { todo: 'desc', fileId: 'asc' }, limit } as const;
    const items = await this.database.read((em) => em.find(StoredDriveItem, where, first));
    // A listing may change the rows of files that were read here, so files wait for the next step.
    return items[0]?.todo === 'fetch' ? items : items.filter(({ todo }) => todo !== 'fetch');
  }

  /** Before the attempt: a file that ends its process counts too. */
  async countAttempt(source: ClaimedSource, { fileId, attempts }: DriveItem): Promise<void> {
    const where = { ...itemsOf(source), fileId };
    await this.database.write((em) => em.nativeUpdate(StoredDriveItem, where, { attempts: attempts + 1 }));
  }

  /** Items that failed or were missing in the last sync are tried again, and unfinished work is started over. */
  async resume({ em }: Transaction, source: ClaimedSource): Promise<void> {
    const [items, restart] = [itemsOf(source), { attempts: 0, pageToken: null, pages: 0 }];
    const unsuccessful = { ...items, result: { $in: ['failed', 'gone'] as const } };
    await em.nativeUpdate(StoredDriveItem, { ...items, todo: { $ne: null } }, restart);
    await em.nativeUpdate(StoredDriveItem, unsuccessful, { ...restart, todo: 'look_up' });
    await em.nativeUpdate(StoredDriveItem, { ...items, result: 'failed', kind: 'file' }, { todo: 'fetch' });
  }

  /** A new listing begins, so an unfinished earlier one is dropped. */
  async dropListing({ em }: Transaction, source: ClaimedSource): Promise<void> {
    const where = { ...itemsOf(source), todo: { $in: ['look_up', 'list', 'remove'] as const } };
    await em.nativeUpdate(StoredDriveItem, where, { todo: null, pageToken: null, pages: 0 });
  }

  /** Adds or updates entries that a sync found. @param again whether entries that this sync has already seen are updated too */
  async add({ em }: Transaction, source: ClaimedSource, found: readonly FoundItem[], again = false): Promise<void> {
    const fileIds = found.map(({ fileId }) => fileId);
    const known = await this.known({ em }, source, fileIds, true);
    const seenIn = source.syncId;
    const unworked = { pageToken: null, pages: 0, attempts: 0, result: null, error: null, documentId: null };
    for (const item of found) {
      const before = known.get(item.fileId);
      if (!before) em.create(StoredDriveItem, { ...itemsOf(source), ...item, ...unworked, seenIn });
      else if (again || before.seenIn !== seenIn) em.assign(before, { ...merge(before, item, again), seenIn });
    }
    await em.flush();
  }

  /** Stores the outcome of an item's work. @returns false where the item was deleted */
  async finish({ em }: Transaction, source: ClaimedSource, fileId: string, outcome: ItemOutcome): Promise<boolean> {
    const finished = { ...outcome, todo: null, attempts: 0 };
    return (await em.nativeUpdate(StoredDriveItem, { ...itemsOf(source), fileId }, finished)) > 0;
  }

  /** @param pageToken null at the end of the folder */
  async setPage(
    { em }: Transaction,
    source: ClaimedSource,
    { fileId, pages }: DriveItem,
    pageToken: string | null,
  ): Promise<void> {
    const changes = { pageToken, pages: pages + 1, attempts: 0, todo: pageToken === null ? null : ('list' as const) };
    await em.nativeUpdate(StoredDriveItem, { ...itemsOf(source), fileId }, changes);
  }

  async isListing({ em }: Transaction, source: ClaimedSource): Promise<boolean> {
    return (await em.count(StoredDriveItem, { ...itemsOf(source), todo: { $in: ['look_up', 'list'] } })) > 0;
  }

  async markUnseenForRemoval({ em }: Transaction, source: ClaimedSource): Promise<void> {
    const unseen = { ...itemsOf(source), seenIn: { $ne: source.syncId } };
    await em.nativeUpdate(StoredDriveItem, unseen, { todo: 'remove', attempts: 0 });
  }

  async markForRemoval({ em }: Transaction, source: ClaimedSource, fileIds: readonly string[]): Promise<void> {
    const named = { ...itemsOf(source), fileId: { $in: fileIds } };
    await em.nativeUpdate(StoredDriveItem, named, { todo: 'remove', attempts: 0 });
  }

  async delete({ em }: Transaction, source: ClaimedSource, fileId: string): Promise<void> {
    await em.nativeDelete(StoredDriveItem, { ...itemsOf(source), fileId });
  }

  /** @param withRemoved whether items that are marked for removal are returned */
  async known(
    { em }: Pick<Transaction, 'em'>,
    source: ClaimedSource,
    fileIds: readonly string[],
    withRemoved = false,
  ): Promise<Map<string, DriveItem>> {
    const items = await em.find(StoredDriveItem, { ...itemsOf(source), fileId: { $in: fileIds } });
    return new Map(items.filter(({ todo }) => withRemoved || todo !== 'remove').map((item) => [item.fileId, item]));
  }

  /** A full sync counts only the items that it has seen. */
  async counts({ em }: Transaction, source: ClaimedSource): Promise<{ files: number; folders: number }> {
    const counted = { ...itemsOf(source), ...(source.isFull && { seenIn: source.syncId }) };
    const files = await em.count(StoredDriveItem, { ...counted, kind: { $in: ['file', 'unknown'] } });
    return { files, folders: await em.count(StoredDriveItem, { ...counted, kind: { $in: ['folder', 'shortcut'] } }) };
  }

  totals(source: ClaimedSource): Promise<SyncTotals> {
    return this.database.read(async (em) => {
      const isFailed = { ...itemsOf(source), result: { $in: ['failed', 'unreadable', 'gone'] } } as const;
      const indexed = await em.count(StoredDriveItem, { ...itemsOf(source), documentId: { $ne: null } });
      const failed = await em.count(StoredDriveItem, isFailed);
      const first = await em.findOne(StoredDriveItem, isFailed, { orderBy: { name: 'asc', fileId: 'asc' } });
      const firstFailed = first && { name: first.name, error: first.error ?? '' };
      return { indexed, failed, firstFailed, isTruncated: source.isTruncated };
    });
  }

  async documents(source: SourceId, limit: number): Promise<string[]> {
    const where = { ...itemsOf(source), documentId: { $ne: null } };
    const items = await this.database.read((em) => em.find(StoredDriveItem, where, { fields: ['documentId'], limit }));
    return items.flatMap(({ documentId }) => documentId ?? []);
  }

  async usage({ organizationId, id: sourceId }: SourceId): Promise<StoreUsage> {
    const [usage] = await USAGE.run<StoreUsage>(this.database, { organizationId, sourceId });
    return usage ?? { chunks: 0, bytes: 0 };
  }

  async deleteWithDocuments(source: SourceId, ids: readonly string[]): Promise<void> {
    const where = { ...itemsOf(source), documentId: { $in: ids } };
    await this.database.write((em) => em.nativeDelete(StoredDriveItem, where));
  }
}

function itemsOf({ organizationId, id: sourceId }: SourceId) {
  return { organizationId, sourceId };
}
