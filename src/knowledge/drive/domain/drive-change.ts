import { type DriveFile, isReadable, kindOf } from './drive-file.js';
import type { DriveItem } from './drive-source.js';

/**
 * What a change means for a source. `relist`: what is below what may have changed, and only a full listing tells.
 * @param known the source's own item of that id
 * @param file as it is now; null where it cannot be seen any more
 * @param isInFolder whether the file lies in a folder of the source
 */
export function effectOf(
  known: Pick<DriveItem, 'kind' | 'via'> | undefined,
  file: DriveFile | null,
  isInFolder: boolean,
): 'ignore' | 'remove' | 'update' | 'relist' {
  if (!known) return file && !file.isTrashed && isInFolder ? ofNew(file) : 'ignore';
  if (known.kind === 'shortcut' || known.kind === 'unknown') return 'relist';
  const isOutside = known.via === 'folder' && !isInFolder;
  const isStructure = known.kind === 'folder' || known.via === 'selected';
  if (!file || file.isTrashed) return isStructure ? 'relist' : 'remove';
  if (isOutside || kindOf(file) !== known.kind) return 'relist';
  if (known.kind === 'folder') return 'ignore';
  return isReadable(file) || known.via === 'selected' ? 'update' : 'remove';
}

function ofNew(file: DriveFile): 'ignore' | 'update' | 'relist' {
  if (kindOf(file) !== 'file') return 'relist';
  return isReadable(file) ? 'update' : 'ignore';
}
