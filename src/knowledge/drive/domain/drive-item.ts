import { type DriveFile, isReadable, kindOf } from './drive-file.js';

/** `unknown` until it was looked up. */
export type ItemKind = 'unknown' | 'file' | 'folder' | 'shortcut';
/** How a sync came to an item. */
export type ItemVia = 'selected' | 'folder' | 'shortcut';
export type ItemTodo = 'look_up' | 'list' | 'fetch' | 'remove';
export type ItemResult = 'indexed' | 'failed' | 'unreadable' | 'gone';

/** An entry that a sync found. */
export interface FoundItem extends Pick<DriveFile, 'name' | 'mimeType' | 'url' | 'size'> {
  readonly fileId: string;
  readonly kind: ItemKind;
  readonly via: ItemVia;
  readonly fingerprint: string | null;
  readonly todo: Exclude<ItemTodo, 'remove'> | null;
}

/** What decides about an item that is found again. */
export interface KnownItem extends Pick<FoundItem, 'kind' | 'via' | 'fingerprint'> {
  readonly todo: ItemTodo | null;
  readonly result: ItemResult | null;
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
export function merged(known: KnownItem, found: FoundItem, again: boolean) {
  const wasRead = known.todo !== 'fetch' && (known.result === 'indexed' || known.result === 'unreadable');
  const isSettled = wasRead && known.fingerprint !== null && known.fingerprint === found.fingerprint;
  return {
    ...found,
    via: again ? known.via : found.via,
    fingerprint: found.fingerprint ?? known.fingerprint,
    ...{ pageToken: null, pages: 0, attempts: 0 },
    ...((found.kind === 'folder' || found.kind === 'shortcut') && { result: null, error: null }),
    todo: found.todo === 'fetch' && isSettled ? null : found.todo,
  };
}

/**
 * What a change means for a source. `relist`: what is below what may have changed, and only a full listing tells.
 * @param known the source's own item of that id
 * @param file as it is now; null where it cannot be seen any more
 * @param isInFolder whether the file lies in a folder of the source
 */
export function effectOf(
  known: Pick<KnownItem, 'kind' | 'via'> | undefined,
  file: DriveFile | null,
  isInFolder: boolean,
): 'ignore' | 'remove' | 'update' | 'relist' {
  if (!known) return file && !file.isTrashed && isInFolder ? effectOfNew(file) : 'ignore';
  if (known.kind === 'shortcut' || known.kind === 'unknown') return 'relist';
  const isOutside = known.via === 'folder' && !isInFolder;
  const isStructure = known.kind === 'folder' || known.via === 'selected';
  if (!file || file.isTrashed) return isStructure ? 'relist' : 'remove';
  if (isOutside || kindOf(file) !== known.kind) return 'relist';
  if (known.kind === 'folder') return 'ignore';
  return isReadable(file) || known.via === 'selected' ? 'update' : 'remove';
}

function effectOfNew(file: DriveFile): 'ignore' | 'update' | 'relist' {
  if (kindOf(file) !== 'file') return 'relist';
  return isReadable(file) ? 'update' : 'ignore';
}
