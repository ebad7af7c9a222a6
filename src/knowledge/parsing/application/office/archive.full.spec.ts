import { describe, expect, it } from '@jest/globals';
import { withWrongSize, zipOf } from '../../../../../test/support/zip-writer.js';
import { Archive } from './archive.js';

const MEBIBYTE = 1024 * 1024;
const large = Buffer.alloc(200 * MEBIBYTE);
const files = zipOf([
  { name: 'a.xml', content: large },
  { name: 'b.xml', content: large },
]);

async function bytesIn(archive: Archive, name: string): Promise<number> {
  let bytes = 0;
  for await (const part of archive.read(name)) bytes += part.length;
  return bytes;
}

describe('an archive', () => {
  it('is inflated up to a size of all members together', async () => {
    const archive = await Archive.open(files);
    expect(await bytesIn(archive, 'a.xml')).toBe(large.length);
    let parts = 0;
    const reading = async (): Promise<void> => {
      for await (const _part of archive.read('b.xml')) parts += 1;
    };
    await expect(reading()).rejects.toMatchObject({
      reason: 'too_large',
      message: 'The file is too large: unpacked it has more than 256 MB.',
    });
    expect(parts).toBe(0);
  });

  it('is inflated no further if a header declares too small or an impossible size', async () => {
    for (const declared of [1_000, 3_000_000_000]) {
      const archive = await Archive.open(withWrongSize(files, 'b.xml', declared));
      await bytesIn(archive, 'a.xml');
      let bytes = 0;
      const reading = async (): Promise<void> => {
        for await (const part of archive.read('b.xml')) bytes += part.length;
      };
      await expect(reading()).rejects.toThrow();
      expect(bytes).toBeLessThanOrEqual(56 * MEBIBYTE);
    }
  });
});
