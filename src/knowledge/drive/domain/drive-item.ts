import { type DriveFile, isReadable, kindOf } from './drive-file.js';

/** `unknown` until it was looked up. */
export type ItemKind = 'unknown' | 'file' | 'folder' | 'shortcut';
/** How a sync found an item. */
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

/** The fields that decide what a sync does with an item that it finds again. */
export interface KnownItem extends Pick<FoundItem, 'kind' | 'via' | 'fingerprint'> {
  readonly todo: ItemTodo | null;
  readonly result: ItemResult | null;
}

/** The items for the entries of a folder, each id once. A shortcut gives two items: itself and its target. */
export function toItems(files: readonly DriveFile[]): FoundItem[] {
  const unique = new Map<string, FoundItem>();
  for (const item of files.filter(({ isTrashed }) => !isTrashed).flatMap(toItemsOfEntry)) {
    // The entry itself has more detail than a shortcut to it.
    if (item.kind !== 'unknown' || !unique.has(item.fileId)) unique.set(item.fileId, item);
  }
  return [...unique.values()];
}

function toItemsOfEntry(file: DriveFile): FoundItem[] {
  const item = toItem(file, 'folder');
  if (item.kind === 'file' && !isReadable(file)) return [];
  if (item.kind !== 'shortcut') return [item];
  return file.targetId === null ? [] : [item, unknownItem(file.targetId, file.name, 'shortcut')];
}

const NEXT_STEPS = { folder: 'list', file: 'fetch', shortcut: null } as const;

export function toItem(file: DriveFile, via: ItemVia): FoundItem {
  const { id: fileId, name, mimeType, url, size, fingerprint } = file;
  const kind = kindOf(file);
  return { fileId, kind, via, todo: NEXT_STEPS[kind], name, mimeType, url, size, fingerprint };
}

/** An item that must be looked up. */
export function unknownItem(fileId: string, name: string, via: 'selected' | 'shortcut', mimeType = ''): FoundItem {
  return { fileId, kind: 'unknown', via, name, mimeType, url: null, size: null, fingerprint: null, todo: 'look_up' };
}

/**
 * The changes to a known item that a sync found again. An unchanged file is not fetched again if it was indexed or cannot be read.
 * @param again whether this sync saw the item before: it then keeps its `via`
 */
export function merge(known: KnownItem, found: FoundItem, again: boolean) {
  const wasRead = known.todo !== 'fetch' && (known.result === 'indexed' || known.result === 'unreadable');
  const isUnchanged = wasRead && known.fingerprint !== null && known.fingerprint === found.fingerprint;
  return {
    ...found,
    via: again ? known.via : found.via,
    fingerprint: found.fingerprint ?? known.fingerprint,
    ...{ pageToken: null, pages: 0, attempts: 0 },
    ...((found.kind === 'folder' || found.kind === 'shortcut') && { result: null, error: null }),
    todo: found.todo === 'fetch' && isUnchanged ? null : found.todo,
  };
}

/**
 * What a source must do after a change. `relist`: the change may affect other items, so everything is listed.
 * @param known the source's item with that id
 * @param file its present state; null where the account can no longer see it
 * @param isInFolder whether the file lies in a folder of the source
 */
export function effectOf(
  known: Pick<KnownItem, 'kind' | 'via'> | undefined,
  file: DriveFile | null,
  isInFolder: boolean,
): 'ignore' | 'remove' | 'update' | 'relist' {
  if (!known) return file && !file.isTrashed && isInFolder ? effectOfNewFile(file) : 'ignore';
  if (known.kind === 'shortcut' || known.kind === 'unknown') return 'relist';
  const isOutside = known.via === 'folder' && !isInFolder;
  const isStructure = known.kind === 'folder' || known.via === 'selected';
  if (!file || file.isTrashed) return isStructure ? 'relist' : 'remove';
  if (isOutside || kindOf(file) !== known.kind) return 'relist';
  if (known.kind === 'folder') return 'ignore';
  return isReadable(file) || known.via === 'selected' ? 'update' : 'remove';
}

function effectOfNewFile(file: DriveFile): 'ignore' | 'update' | 'relist' {
  if (kindOf(file) !== 'file') return 'relist';
  return isReadable(file) ? 'update' : 'ignore';
}
