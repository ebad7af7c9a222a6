import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeBackup, DESCRIPTION } from './archive-format.js';
import { type BackupReceiver, readArchive } from './archive-reader.js';
import { ArchiveWriter } from './archive-writer.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'archive-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const description = JSON.stringify(
  describeBackup({ service: '1.0.0', schema: null, createdAt: '2026-11-28T12:00:00.000Z' }),
);

async function written(fill: (archive: ArchiveWriter) => Promise<void>): Promise<string> {
  const file = join(root, 'service.backup');
  const archive = ArchiveWriter.create(file);
  await archive.addText(DESCRIPTION, description);
  await fill(archive);
  await archive.complete(() => true);
  return file;
}

class Collector implements BackupReceiver {
  readonly entries: Record<string, string> = {};

  begin(): void {
    // Any description will do.
  }

  async folder(path: string): Promise<void> {
    this.entries[`${path}/`] = '';
    return Promise.resolve();
  }

  link(path: string, target: string): void {
    this.entries[path] = `-> ${target}`;
  }

  async file(path: string, content: NodeJS.ReadableStream): Promise<void> {
    this.entries[path] = await text(content);
  }
}

describe('an archive', () => {
  it('is read with every name that it was written with', async () => {
    const names = ['12:30.log', 'back\\slash', 'C:', '...', ' a\nb ', 'ü'.repeat(120)];
    const paths = names.map((name) => `integrations/${name}/${name}`);
    const file = await written(async (archive) => {
      for (const path of paths) await archive.addText(path, path);
    });
    const collector = new Collector();
    expect(await readArchive(file, collector)).toEqual(new Set(paths));
    expect(collector.entries).toEqual(Object.fromEntries(paths.map((path) => [path, path])));
  });

  it.each(['integrations/../x', 'integrations//x', '/integrations/x', 'spool/x'])(
    'is not written with the path %s, which no restore accepts',
    async (path) => {
      await expect(written((archive) => archive.addText(path, ''))).rejects.toThrow(/is not a path of a backup/);
    },
  );

  it('keeps links that stay in the folder of their server', async () => {
    const links = [
      ['integrations/a/tool', 'node_modules/tool/cli.js'],
      ['integrations/a/node_modules/.bin/tool', '../tool/./cli.js'],
      ['integrations/a/b/top', '..'],
    ] as const;
    const file = await written(async (archive) => {
      for (const [path, target] of links) archive.addLink(path, target);
      return Promise.resolve();
    });
    const collector = new Collector();
    expect(await readArchive(file, collector)).toEqual(new Set(links.map(([path]) => path)));
    expect(collector.entries).toEqual(Object.fromEntries(links.map(([path, target]) => [path, `-> ${target}`])));
  });

  it.each([
    ['integrations/a/x', '/etc/passwd'],
    ['integrations/a/x', '..'],
    ['integrations/a/x', '../b/x'],
    ['integrations/a/b/x', '../../b'],
    ['integrations/a/b/x', '../c/..'],
    ['integrations/a/b/x', './../..'],
    ['integrations/x', 'a'],
    ['files/a/b/x', 'y'],
  ])('is refused with a link %s -> %s', async (path, target) => {
    const file = await written((archive) => {
      archive.addLink(path, target);
      return Promise.resolve();
    });
    await expect(readArchive(file, new Collector())).rejects.toThrow(/neither a file nor a folder|whole backup/);
  });

  it('is not called damaged where the disk that receives it is full', async () => {
    const file = await written((archive) => archive.addText('files/x', 'x'.repeat(1_000_000)));
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const receiver = Object.assign(new Collector(), { file: () => Promise.reject(full) });
    await expect(readArchive(file, receiver)).rejects.toBe(full);
  });

  // A file limit of the kernel does what a full disk does, at an entry of its own.
  (process.platform === 'linux' ? it : it.skip)(
    'that can be written no further is removed, and ends nothing else',
    async () => {
      const limit = (bytes: string): Buffer =>
        execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:unlimited`]);
      const ignore = (): void => undefined;
      process.on('SIGXFSZ', ignore);
      for (let number = 0; number < 400; number += 1) writeFileSync(join(root, `${number}.page`), randomBytes(8192));
      limit(String(512 * 1024));
      try {
        for (let round = 0; round < 5; round += 1) {
          const archive = ArchiveWriter.create(join(root, 'service.backup'));
          const all = async (): Promise<void> => {
            for (let number = 0; number < 400; number += 1)
              await archive.addFile(`files/${number}`, join(root, `${number}.page`));
            await archive.complete(() => true);
          };
          const failure: unknown = await all().catch((error: unknown) => archive.discard(error));
          expect(failure).toMatchObject({
            message: expect.stringMatching(/^the backup cannot be written to .*: EFBIG/),
          });
          expect(readdirSync(root).filter((name) => name.startsWith('service.backup'))).toEqual([]);
        }
      } finally {
        limit('unlimited');
        process.off('SIGXFSZ', ignore);
      }
    },
  );
});
