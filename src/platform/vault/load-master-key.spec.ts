import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InvalidSetting, readSettings, type Settings } from '../config/index.js';
import { loadMasterKey } from './load-master-key.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'master-key-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

function settings(environment: Record<string, string> = {}): Settings {
  return readSettings({ DATA_DIR: join(folder, 'data'), ...environment }, { role: 'all', demo: false });
}

const file = (): string => join(folder, 'data', 'secrets.key');

it('makes a key on the first start that only its owner may read, and takes it again later', async () => {
  const first = loadMasterKey(settings());
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(file(), 'utf8'), 'base64')).toHaveLength(32);
  expect(await readdir(join(folder, 'data'))).toEqual(['secrets.key']);
  expect(loadMasterKey(settings()).id).toBe(first.id);
});

it('takes SECRETS_KEY before any file and makes none', async () => {
  const key = randomBytes(32).toString('base64');
  expect(loadMasterKey(settings({ SECRETS_KEY: key })).id).toBe(loadMasterKey(settings({ SECRETS_KEY: key })).id);
  expect(await readdir(folder)).toEqual([]);
});

it.each(['', 'not a key', randomBytes(31).toString('base64'), `${randomBytes(32).toString('base64')}x`])(
  'stops the start on a damaged file, naming it in one line and leaving it as it is (%j)',
  async (content) => {
    loadMasterKey(settings());
    await writeFile(file(), content);
    const load = (): unknown => loadMasterKey(settings());
    expect(load).toThrow(InvalidSetting);
    expect(load).toThrow(new RegExp(`^DATA_DIR: ${file()} is damaged[^\\n]*$`));
    expect(await readFile(file(), 'utf8')).toBe(content);
  },
);

it('stops the start when the key cannot be made, naming the file', async () => {
  await writeFile(join(folder, 'data'), 'a file where the folder should be');
  await chmod(join(folder, 'data'), 0o600);
  expect(() => loadMasterKey(settings())).toThrow(/^DATA_DIR: .*secrets\.key cannot be (read|made)$/);
});
