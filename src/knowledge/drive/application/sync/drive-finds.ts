import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { type DriveFile, isReadable, kindOf } from '../../domain/drive-file.js';
import type { ClaimedSource } from '../../domain/drive-source.js';
import { DriveItemRepository, type FoundItem } from '../../persistence/drive-item.repository.js';
import { MAX_FILES, MAX_FOLDERS } from '../../limits.js';
import { HeldSource } from './held-source.js';

/** Entries that a sync comes upon become its items, as many as one source may have. */
@Injectable()
export class DriveFinds {
  constructor(
    private readonly items: DriveItemRepository,
    private readonly held: HeldSource,
  ) {}

  /** @returns the source, which is marked where some were left out */
  async add(transaction: Transaction, source: ClaimedSource, files: readonly DriveFile[], again: boolean): Promise<ClaimedSource> {
    const found = uniqueOf(files.filter(({ isTrashed }) => !isTrashed).flatMap(itemsOf));
    const known = await this.items.known(transaction, source, found.map(({ fileId }) => fileId));
    const isCounted = ({ fileId }: FoundItem): boolean => {
      const item = known.get(fileId);
      return item !== undefined && (!source.isFull || item.seenIn === source.syncId);
    };
    const counts = await this.items.counts(transaction, source);
    const room = { file: MAX_FILES - counts.files, folder: MAX_FOLDERS - counts.folders };
    const kept = found.filter((item) => {
      if (isCounted(item)) return true;
      const kind = item.kind === 'file' || item.kind === 'unknown' ? 'file' : 'folder';
      room[kind] -= 1;
      return room[kind] >= 0;
    });
    await this.items.add(transaction, source, kept, again);
    if (kept.length === found.length || source.isTruncated) return source;
    return this.held.progress(transaction, source, { isTruncated: true });
  }
}

/** What an entry is to a folder that it lies in. A shortcut is also what it leads to. */
function itemsOf(file: DriveFile): FoundItem[] {
  const { id: fileId, name, mimeType, url, size, fingerprint, targetId } = file;
  const kind = kindOf(file);
  const item = { fileId, kind, via: 'folder' as const, name, mimeType, url, size, fingerprint };
  switch (kind) {
    case 'folder':
      return [{ ...item, todo: 'list' }];
    case 'file':
      return isReadable(file) ? [{ ...item, todo: 'fetch' }] : [];
    case 'shortcut':
      return targetId === null ? [] : [{ ...item, todo: null }, targetOf(targetId, name)];
  }
}

export function targetOf(fileId: string, name: string): FoundItem {
  return { fileId, kind: 'unknown', via: 'shortcut', name, mimeType: '', url: null, size: null, fingerprint: null, todo: 'look_up' };
}

/** A statement that meets a row twice fails; what says more of it counts. */
function uniqueOf(items: readonly FoundItem[]): FoundItem[] {
  const unique = new Map<string, FoundItem>();
  for (const item of items) if (item.kind !== 'unknown' || !unique.has(item.fileId)) unique.set(item.fileId, item);
  return [...unique.values()];
}
