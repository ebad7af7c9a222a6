import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { codeOf } from '../errors/index.js';

export interface Entry {
  /** Below the folder, with slashes on every system. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** The files and folders below a folder, each folder before what is in it; none when the folder does not exist. Links are left out. */
export async function entriesBelow(folder: string): Promise<readonly Entry[]> {
  return (await allBelow(folder)).flatMap(({ path, kind }) =>
    kind === 'folder' || kind === 'file' ? [{ path, isFolder: kind === 'folder' }] : [],
  );
}

export type Kind = 'folder' | 'file' | 'link' | 'other';

/** The same with links, which are not followed, and with what is none of these, such as sockets. */
export async function allBelow(folder: string): Promise<readonly { readonly path: string; readonly kind: Kind }[]> {
  return (await read(folder))
    .map((entry) => ({ path: pathBelow(folder, entry), kind: kindOf(entry) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

function kindOf(entry: Dirent): Kind {
  if (entry.isDirectory()) return 'folder';
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

async function read(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function pathBelow(folder: string, { parentPath, name }: Dirent): string {
  return join(parentPath, name)
    .slice(folder.length + 1)
    .split(sep)
    .join('/');
}
