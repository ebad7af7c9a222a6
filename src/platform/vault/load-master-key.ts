import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidSetting, type Settings } from '../config/index.js';
import { newId } from '../ids/index.js';
import { MasterKey } from './master-key.js';

const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
/** 32 bytes in base64, as `SECRETS_KEY` takes them, and the newline an editor adds. */
const KEY_FILE = /^[A-Za-z0-9+/]{43}=\n?$/;

/**
 * The master key of the settings, or, embedded, the one in `DATA_DIR/secrets.key`, which the first
 * start makes.
 * @throws InvalidSetting naming the setting or the file that is wrong
 */
export function loadMasterKey(settings: Settings): MasterKey {
  if (settings.secretsKey !== undefined) return new MasterKey(Buffer.from(settings.secretsKey, 'base64'));
  if (!settings.embedded) throw new InvalidSetting('SECRETS_KEY: is required (32 random bytes in base64)');
  const file = resolve(join(settings.dataDir, 'secrets.key'));
  const content = readIfThere(file) ?? create(file, settings.dataDir);
  if (!KEY_FILE.test(content)) {
    throw new InvalidSetting(
      `DATA_DIR: ${file} is damaged: it must hold 32 bytes in base64; restore it, or the stored secrets are lost`,
    );
  }
  return new MasterKey(Buffer.from(content, 'base64'));
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new InvalidSetting(`DATA_DIR: ${file} cannot be read`, { cause: error });
  }
}

/**
 * Written beside and linked into place: a reader sees a whole key or none, a crash leaves no half
 * of one, and of two starts at once the later takes the key of the earlier.
 */
function create(file: string, dataDir: string): string {
  const key = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  const draft = `${file}.${newId()}`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeDurably(draft, key);
    linkSync(draft, file);
    return key;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return readFileSync(file, 'utf8');
    throw new InvalidSetting(`DATA_DIR: ${file} cannot be made`, { cause: error });
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeDurably(file: string, content: string): void {
  const handle = openSync(file, 'wx', OWNER_ONLY);
  try {
    writeSync(handle, content);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
