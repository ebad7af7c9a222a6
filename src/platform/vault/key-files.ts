import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { InvalidSetting } from '../config/index.js';
import { codeOf } from '../errors/index.js';
import { newId } from '../ids/index.js';
import { MasterKey } from './master-key.js';

const KEY_BYTES = 32;
const OWNER_ONLY = 0o600;
/** 32 bytes in base64, as `SECRETS_KEY` takes them, and the newline an editor adds. */
const KEY_FILE = /^[A-Za-z0-9+/]{43}=\n?$/;

/** The master keys in `DATA_DIR`: `secrets.key`, and while a rotation is under way `secrets.key.next`. */
export class KeyFiles {
  private readonly file: string;
  private readonly nextFile: string;

  constructor(private readonly dataDir: string) {
    this.file = resolve(join(dataDir, 'secrets.key'));
    this.nextFile = `${this.file}.next`;
  }

  /**
   * Makes the first key where there is none.
   * @returns the key to write under, and the one before it when a rotation was interrupted: secrets may be under either
   * @throws InvalidSetting naming the file that is wrong
   */
  read(): readonly [MasterKey, ...MasterKey[]] {
    const stored = readIfThere(this.file);
    const next = readIfThere(this.nextFile);
    if (stored === undefined && next !== undefined) {
      throw new InvalidSetting(
        `DATA_DIR: ${this.file} is missing, and ${this.nextFile} is not enough without it; restore it, or the stored secrets are lost`,
      );
    }
    const key = keyIn(this.file, stored ?? this.create(this.file));
    return next === undefined ? [key] : [keyIn(this.nextFile, next), key];
  }

  /** Stores a second key durably, before the first secret is written under it. */
  addNext(): MasterKey {
    return keyIn(this.nextFile, this.create(this.nextFile));
  }

  /** Puts the second key in the place of the first, which is gone then. */
  promoteNext(): void {
    try {
      renameSync(this.nextFile, this.file);
      syncFolder(this.dataDir);
    } catch (error) {
      throw new InvalidSetting(`DATA_DIR: ${this.nextFile} cannot take the place of ${this.file}`, { cause: error });
    }
  }

  /**
   * Written beside and linked into place: a reader sees a whole key or none, a crash leaves no half
   * of one, and of two starts at once the later takes the key of the earlier.
   */
  private create(file: string): string {
    const key = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
    const draft = `${file}.${newId()}`;
    try {
      mkdirSync(this.dataDir, { recursive: true, mode: 0o700 });
      writeFileSync(draft, key, { flag: 'wx', mode: OWNER_ONLY, flush: true });
      linkSync(draft, file);
      syncFolder(this.dataDir);
      return key;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return readFileSync(file, 'utf8');
      throw new InvalidSetting(`DATA_DIR: ${file} cannot be made`, { cause: error });
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

function keyIn(file: string, content: string): MasterKey {
  if (KEY_FILE.test(content)) return new MasterKey(Buffer.from(content, 'base64'));
  throw new InvalidSetting(
    `DATA_DIR: ${file} is damaged: it must hold 32 bytes in base64; restore it, or the stored secrets are lost`,
  );
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new InvalidSetting(`DATA_DIR: ${file} cannot be read`, { cause: error });
  }
}

/** The name is on the disk only when its folder is. */
function syncFolder(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
