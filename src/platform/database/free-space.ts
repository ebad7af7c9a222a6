import { statfs } from 'node:fs/promises';

/** Below this the embedded database may be unable to write its log, and then crashes. */
export const RESERVE_MIB = 16;

/** Whether the disk of the folder is as good as full. False where this cannot be known: a folder in memory, a disk without a size. */
export async function lacksRoom(folder: string | undefined, reserveMiB = RESERVE_MIB): Promise<boolean> {
  if (folder === undefined) return false;
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return blocks > 0 && bavail * bsize < reserveMiB * 1024 * 1024;
  } catch {
    return false;
  }
}
