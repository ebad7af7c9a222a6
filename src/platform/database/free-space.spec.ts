import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { lacksRoom } from './free-space.js';

it.each([
  ['a disk with room', tmpdir(), 0, false],
  ['a disk that is too small', tmpdir(), Number.MAX_SAFE_INTEGER, true],
  ['a file system without a size', '/proc', Number.MAX_SAFE_INTEGER, false],
  ['no folder', 'memory://', Number.MAX_SAFE_INTEGER, false],
  ['no path', undefined, Number.MAX_SAFE_INTEGER, false],
])('knows whether there is room: %s', async (_what, folder, reserveMiB, expected) => {
  expect(await lacksRoom(folder, reserveMiB)).toBe(expected);
});
