import { timingSafeEqual } from 'node:crypto';
import { InvalidSetting, type Settings } from '../config/index.js';
import { KeyFiles } from './key-files.js';
import { MasterKey } from './master-key.js';

/** The master keys of this process: everything new is written under one of them, the others are only read. */
export class MasterKeys {
  #current: MasterKey;
  #readable: readonly MasterKey[];
  readonly #files: KeyFiles | undefined;
  #promotionDue: boolean;

  private constructor(
    current: MasterKey,
    readable: readonly MasterKey[],
    files?: KeyFiles,
    promotionDue = false,
  ) {
    this.#current = current;
    this.#readable = readable;
    this.#files = files;
    this.#promotionDue = promotionDue;
  }

  /** Keys that others keep. */
  static of(current: MasterKey, ...readable: readonly MasterKey[]): MasterKeys {
    return new MasterKeys(current, readable);
  }

  /**
   * `SECRETS_KEY` and `SECRETS_KEY_FALLBACK`, or, embedded without them, the files in `DATA_DIR`, of which the first
   * start makes one.
   * @throws InvalidSetting naming the setting or the file that is wrong
   */
  static load(settings: Settings): MasterKeys {
    const { secretsKey, secretsKeyFallback } = settings;
    if (secretsKey !== undefined) {
      const fallback = secretsKeyFallback === undefined ? [] : [fromBase64(secretsKeyFallback)];
      return MasterKeys.of(fromBase64(secretsKey), ...fallback);
    }
    if (!settings.embedded) throw new InvalidSetting('SECRETS_KEY: is required (32 random bytes in base64)');
    const files = new KeyFiles(settings.dataDir);
    const { key, next } = files.read();
    return next ? new MasterKeys(next, [key], files, true) : new MasterKeys(key, [], files);
  }

  /** The key that is written under. */
  get current(): MasterKey {
    return this.#current;
  }

  /** The key of this id, if this process may read what is under it. */
  find(id: string): MasterKey | undefined {
    return [this.#current, ...this.#readable].find((key) => key.id === id);
  }

  /**
   * What `MasterKey.derive` answers, of every key: the first one signs, and each of them verifies what was signed
   * before a rotation.
   */
  derive(purpose: string): readonly [Buffer, ...Buffer[]] {
    return [this.#current.derive(purpose), ...this.#readable.map((key) => key.derive(purpose))];
  }

  /** Whether `given` is what `sign` makes with any of the keys that `derive` answers, compared in constant time. */
  verifies(purpose: string, given: Buffer, sign: (key: Buffer) => Buffer): boolean {
    return this.derive(purpose).some((key) => {
      const expected = sign(key);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  /** Whether a rotation put a key beside the old one and the old one is still there. */
  get isRotating(): boolean {
    return this.#promotionDue;
  }

  /**
   * Where this process keeps its key itself: makes another, stores it and writes under it from now on, unless an
   * earlier rotation has come as far as that. Does nothing where the operator sets the keys.
   */
  beginRotation(): void {
    if (!this.#files || this.#promotionDue) return;
    const next = this.#files.addNext();
    this.#readable = [this.#current, ...this.#readable];
    this.#current = next;
    this.#promotionDue = true;
  }

  /**
   * Makes the current key the only one stored. Call it when nothing is left under the others. This process goes on
   * knowing those until it ends, for the sake of what they signed.
   */
  completeRotation(): void {
    if (!this.#promotionDue) return;
    this.#files?.promoteNext();
    this.#promotionDue = false;
  }

  /** True where the keys are the operator's settings, and so are changed there. */
  get areSettings(): boolean {
    return this.#files === undefined;
  }
}

function fromBase64(key: string): MasterKey {
  return new MasterKey(Buffer.from(key, 'base64'));
}
