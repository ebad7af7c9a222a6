import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { InvalidSetting, readSettings, type Settings } from '../config/index.js';
import { MasterKeys } from './master-keys.js';

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

it('creates a key at the first start that only its owner can read, and uses it later', async () => {
  const first = MasterKeys.load(settings());
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(file(), 'utf8'), 'base64')).toHaveLength(32);
  expect(await readdir(join(folder, 'data'))).toEqual(['secrets.key']);
  expect(MasterKeys.load(settings()).current.id).toBe(first.current.id);
});

it('prefers SECRETS_KEY to files and creates none', async () => {
  const key = randomBytes(32).toString('base64');
  const load = (): MasterKeys => MasterKeys.load(settings({ SECRETS_KEY: key }));
  expect(load().current.id).toBe(load().current.id);
  expect(await readdir(folder)).toEqual([]);
});

it.each(['', 'not a key', randomBytes(31).toString('base64'), `${randomBytes(32).toString('base64')}x`])(
  'stops the start on a damaged file, naming it in one line and leaving it as it is (%j)',
  async (content) => {
    MasterKeys.load(settings());
    await writeFile(file(), content);
    const load = (): unknown => MasterKeys.load(settings());
    expect(load).toThrow(InvalidSetting);
    expect(load).toThrow(new RegExp(`^DATA_DIR: ${file()} is damaged[^\\n]*$`));
    expect(await readFile(file(), 'utf8')).toBe(content);
  },
);

it('fails the start if the key cannot be created, and names the file', async () => {
  await writeFile(join(folder, 'data'), 'a file where the folder should be');
  await chmod(join(folder, 'data'), 0o600);
  expect(() => MasterKeys.load(settings())).toThrow(/^DATA_DIR: .*secrets\.key cannot be (read|created)$/);
});

it('keeps both keys of a rotation until it is complete, through any number of starts', async () => {
  const keys = MasterKeys.load(settings());
  const old = keys.current;
  keys.beginRotation();
  const { current } = keys;
  expect(current.id).not.toBe(old.id);
  expect((await readdir(join(folder, 'data'))).sort()).toEqual(['secrets.key', 'secrets.key.next']);
  expect((await stat(`${file()}.next`)).mode & 0o777).toBe(0o600);

  const restarted = MasterKeys.load(settings());
  restarted.beginRotation();
  expect([restarted.isRotating, restarted.current.id, restarted.find(old.id)?.id]).toEqual([true, current.id, old.id]);

  restarted.completeRotation();
  expect(await readdir(join(folder, 'data'))).toEqual(['secrets.key']);
  const later = MasterKeys.load(settings());
  expect([later.isRotating, later.current.id, later.find(old.id)]).toEqual([false, current.id, undefined]);
});

it('never changes keys that the operator sets', async () => {
  const key = randomBytes(32).toString('base64');
  const keys = MasterKeys.load(settings({ SECRETS_KEY: key }));
  const { id } = keys.current;
  keys.beginRotation();
  keys.completeRotation();
  expect([keys.current.id, keys.isRotating]).toEqual([id, false]);
  expect(await readdir(folder)).toEqual([]);
});

it.each(['', randomBytes(31).toString('base64')])(
  'stops the start on a damaged second key, naming its file (%j)',
  async (content) => {
    MasterKeys.load(settings()).beginRotation();
    await writeFile(`${file()}.next`, content);
    expect(() => MasterKeys.load(settings())).toThrow(new RegExp(`^DATA_DIR: ${file()}\\.next is damaged[^\\n]*$`));
  },
);

it('fails the start if only the second key exists, and creates none', async () => {
  MasterKeys.load(settings()).beginRotation();
  await rm(file());
  expect(() => MasterKeys.load(settings())).toThrow(new RegExp(`^DATA_DIR: ${file()} is missing[^\\n]*$`));
  expect(await readdir(join(folder, 'data'))).toEqual(['secrets.key.next']);
});
