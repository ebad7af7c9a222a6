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
/** 32 bytes in base64, the format of `SECRETS_KEY`, and the newline that an editor adds. */
const KEY_FILE = /^[A-Za-z0-9+/]{43}=\n?$/;

/** In `DATA_DIR`; the second one exists during a rotation. */
export const KEY_FILES = { current: 'secrets.key', next: 'secrets.key.next' } as const;

/** The master keys in `DATA_DIR`. */
export class KeyFiles {
  readonly file: string;
  private readonly nextFile: string;

  constructor(private readonly dataDir: string) {
    this.file = resolve(join(dataDir, KEY_FILES.current));
    this.nextFile = resolve(join(dataDir, KEY_FILES.next));
  }

  /**
   * Creates the first key if there is none.
   * @returns the key for new secrets, and the previous one if a rotation was interrupted: stored secrets may use either
   * @throws InvalidSetting that names the damaged file
   */
  read(): readonly [MasterKey, ...MasterKey[]] {
    const stored = readIfThere(this.file);
    const next = readIfThere(this.nextFile);
    if (stored === undefined && next !== undefined) {
      throw new InvalidSetting(
        `DATA_DIR: ${this.file} is missing, and ${this.nextFile} alone does not decrypt all secrets; restore it, or the stored secrets are lost`,
      );
    }
    const key = keyIn(this.file, stored ?? this.create(this.file));
    return next === undefined ? [key] : [keyIn(this.nextFile, next), key];
  }

  /** Stores a second key durably, before the first secret is encrypted with it. */
  addNext(): MasterKey {
    return keyIn(this.nextFile, this.create(this.nextFile));
  }

  promoteNext(): void {
    try {
      renameSync(this.nextFile, this.file);
      syncFolder(this.dataDir);
    } catch (error) {
      throw new InvalidSetting(`DATA_DIR: ${this.file} cannot be replaced with ${this.nextFile}`, { cause: error });
    }
  }

  /**
   * Links a draft to its place, so that neither a reader nor a crash sees a partial key, and of two concurrent starts the later
   * one uses the key of the earlier.
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
      throw new InvalidSetting(`DATA_DIR: ${file} cannot be created`, { cause: error });
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

/** The file's name is durable only once its folder is synced. */
function syncFolder(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
