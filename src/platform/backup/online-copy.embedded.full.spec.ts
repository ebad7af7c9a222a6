import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { PGlite } from '@electric-sql/pglite';
import { embeddedOnly } from '../../../test/support/modes.js';
import { startPglite } from '../database/embedded-database.js';
import { ArchiveWriter } from './archive-writer.js';
import { copyOnline } from './online-copy.js';

embeddedOnly('a copy of a database in use', () => {
  let root: string;
  let pglite: PGlite;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'copy-'));
    pglite = await startPglite({ dataDir: join(root, 'database') });
  });
  afterEach(async () => {
    await pglite.close();
    rmSync(root, { recursive: true });
  });

  it('is refused when a checkpoint has removed the log that it needs', async () => {
    const archive = ArchiveWriter.create(join(root, 'service.backup'));
    const addText = archive.addText.bind(archive);
    jest.spyOn(archive, 'addText').mockImplementation(async (name, text) => {
      await addText(name, text);
      for (let segments = 1; segments <= 3; segments += 1) await pglite.exec('select pg_switch_wal(); checkpoint');
    });
    await expect(copyOnline(pglite, join(root, 'database'), archive, () => undefined)).rejects.toThrow(
      /has removed the write-ahead log that the backup needs/,
    );
    await archive.discard(undefined);
  });
});
