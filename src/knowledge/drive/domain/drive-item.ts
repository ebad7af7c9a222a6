import { type DriveFile, isReadable, kindOf } from './drive-file.js';
import type { DriveItem } from './drive-source.js';

/** An entry that a sync found. */
export interface FoundItem extends Pick<DriveItem, 'fileId' | 'kind' | 'via' | 'name' | 'mimeType' | 'url' | 'size' | 'fingerprint'> {
  readonly todo: 'look_up' | 'list' | 'fetch' | null;
}

/** What the entries of a folder are to a source, each id once. A shortcut is also what it leads to. */
export function itemsOf(files: readonly DriveFile[]): FoundItem[] {
  const unique = new Map<string, FoundItem>();
  for (const item of files.filter(({ isTrashed }) => !isTrashed).flatMap(itemsOfEntry)) {
    // An entry that is described says more than a shortcut that leads to it.
    if (item.kind !== 'unknown' || !unique.has(item.fileId)) unique.set(item.fileId, item);
  }
  return [...unique.values()];
}

function itemsOfEntry(file: DriveFile): FoundItem[] {
  const { id: fileId, name, mimeType, url, size, fingerprint, targetId } = file;
  const kind = kindOf(file);
  const item = { fileId, kind, via: 'folder' as const, name, mimeType, url, size, fingerprint };
  switch (kind) {
    case 'folder':
      return [{ ...item, todo: 'list' }];
    case 'file':
      return isReadable(file) ? [{ ...item, todo: 'fetch' }] : [];
    case 'shortcut':
      return targetId === null ? [] : [{ ...item, todo: null }, unknownItem(targetId, name, 'shortcut')];
  }
}

/** One that has to be looked up. */
export function unknownItem(fileId: string, name: string, via: 'selected' | 'shortcut', mimeType = ''): FoundItem {
  return { fileId, kind: 'unknown', via, name, mimeType, url: null, size: null, fingerprint: null, todo: 'look_up' };
}

/**
 * What a known item becomes with what was found. A file with the fingerprint of before is not fetched where it was read, or
 * cannot be.
 * @param again it keeps how the sync came to it
 */
export function merged(known: DriveItem, found: FoundItem, again: boolean): Partial<DriveItem> {
  const isSettled = known.todo !== 'fetch' && known.fingerprint !== null && known.fingerprint === found.fingerprint && ['indexed', 'unreadable', 'skipped'].includes(known.result ?? '');
  return {
    ...found,
    via: again ? known.via : found.via,
    fingerprint: found.fingerprint ?? known.fingerprint,
    ...{ pageToken: null, pages: 0, attempts: 0 },
    ...((found.kind === 'folder' || found.kind === 'shortcut') && { result: null, error: null }),
    todo: found.todo === 'fetch' && isSettled ? null : found.todo,
  };
}
