import { createWriteStream, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Headers, pack } from 'tar-stream';
import { describeBackup, DESCRIPTION, DIGESTS } from './archive-format.js';
import { ArchiveWriter } from './archive-writer.js';
import { restoreBackup, type Restored } from './restore-backup.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'archive-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const MIGRATIONS = ['2026112100_a', '2026112101_b'];
const description = (schema: string): string =>
  JSON.stringify(describeBackup({ service: '9.9.9', schema, createdAt: '2026-11-28T12:00:00.000Z' }));

function restore(file: string): Promise<Restored> {
  const settings = { dataDir: join(root, 'data'), embedded: true };
  return restoreBackup({ settings, migrations: MIGRATIONS, printProgress: () => undefined }, file);
}

/** An archive that the service does not write: the given entries after a good description. */
async function forged(...entries: readonly (Headers & { readonly content?: string })[]): Promise<string> {
  const file = join(root, 'forged.backup');
  const tar = pack();
  const written = pipeline(tar, createZstdCompress(), createWriteStream(file));
  tar.entry({ name: DESCRIPTION }, description('2026112101_b'));
  for (const { content = '', ...header } of entries) tar.entry(header, content);
  tar.entry({ name: DIGESTS }, '{}');
  tar.finalize();
  await written;
  return file;
}

function expectNothingRestored(): void {
  expect(readdirSync(join(root, 'data')).filter((name) => !name.startsWith('service.lock'))).toEqual([]);
}

describe('a restore', () => {
  it.each([
    ['../outside'],
    ['/tmp/outside'],
    ['files/../../outside'],
    ['files/./x'],
    ['files//x'],
    ['files\\..\\outside'],
    ['C:/outside'],
    ['operator.sock'],
    ['spool/x'],
    ['secrets.key/x'],
    ['.restore/x'],
  ])('refuses an archive with the path %s', async (name) => {
    await expect(restore(await forged({ name, content: 'x' }))).rejects.toThrow(/is not a path of a backup/);
    expectNothingRestored();
    expect(existsSync(join(root, 'outside'))).toBe(false);
  });

  it.each([
    ['symlink', { linkname: '/etc' }],
    ['link', { linkname: 'secrets.key' }],
    ['fifo', {}],
  ] as const)('refuses an archive with a %s', async (type, more) => {
    await expect(restore(await forged({ name: 'files/x', type, ...more }))).rejects.toThrow(
      /neither a file nor a folder/,
    );
    expectNothingRestored();
  });

  it('refuses a backup of a newer version, naming both', async () => {
    const file = join(root, 'newer.backup');
    const archive = ArchiveWriter.create(file);
    await archive.addText(DESCRIPTION, description('2026112102_c'));
    await archive.complete(() => true);
    await expect(restore(file)).rejects.toThrow(
      /newer version \(9\.9\.9, schema 2026112102_c\) than this one \(1\.0\.0/,
    );
    expectNothingRestored();
  });

  it('refuses an archive whose database does not start', async () => {
    const file = join(root, 'empty.backup');
    const archive = ArchiveWriter.create(file);
    await archive.addText(DESCRIPTION, description('2026112101_b'));
    await archive.addText('database/PG_VERSION', '18\n');
    await archive.complete(() => true);
    await expect(restore(file)).rejects.toThrow(/is not a whole backup: its database does not start/);
    expectNothingRestored();
  });

  it('names a file that does not exist', async () => {
    await expect(restore(join(root, 'none'))).rejects.toThrow(/none does not exist$/);
  });
});
