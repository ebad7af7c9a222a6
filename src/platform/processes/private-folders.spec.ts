import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../ids/index.js';
import { PrivateFolders } from './private-folders.js';

let root: string;
let folders: PrivateFolders;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'private-folders-'));
  folders = new PrivateFolders(join(root, 'folders'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('private folders', () => {
  it('exist for each id until they are removed, and are inaccessible to other users', async () => {
    const [one, two] = [newId(), newId()];
    const path = await folders.open(one);
    writeFileSync(join(path, 'note'), 'kept');
    expect(await folders.open(one)).toBe(path);
    expect(existsSync(join(path, 'note'))).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const other = await folders.open(two);
    await folders.remove(one);
    expect([existsSync(path), existsSync(other)]).toEqual([false, true]);
    await folders.remove(one);
  });

  it('are found by the time of their last change, without other folders and files', async () => {
    const since = new Date('2026-01-02');
    const found = async (): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const id of folders.unchangedSince(since)) ids.push(id);
      return ids.sort();
    };
    expect(await found()).toEqual([]);
    const [one, two, changed, file] = [newId(), newId(), newId(), newId()];
    for (const id of [one, two, changed]) await folders.open(id);
    for (const name of ['notes', newId().toUpperCase()]) mkdirSync(join(root, 'folders', name));
    writeFileSync(join(root, 'folders', file), 'no folder');
    for (const name of readdirSync(join(root, 'folders')))
      utimesSync(join(root, 'folders', name), since, new Date('2026-01-01'));
    utimesSync(await folders.open(changed), since, since);
    expect(await found()).toEqual([one, two].sort());
  });

  it.each(['', '.', '..', '../folders', '/', 'name', `${newId()}/../..`])('are not created for %j', async (id) => {
    await expect(folders.open(id)).rejects.toThrow('must be a UUID');
    await expect(folders.remove(id)).rejects.toThrow('must be a UUID');
    expect(existsSync(root)).toBe(true);
  });
});
