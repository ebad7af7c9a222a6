import { timingSafeEqual } from 'node:crypto';
import { InvalidSetting, type Settings } from '../config/index.js';
import { KeyFiles } from './key-files.js';
import { MasterKey } from './master-key.js';

/** The master keys of this process: everything new is written under the first of them, the others are only read. */
export class MasterKeys {
  #keys: readonly [MasterKey, ...MasterKey[]];
  readonly #files: KeyFiles | undefined;
  #isRotating: boolean;

  private constructor(keys: readonly [MasterKey, ...MasterKey[]], files?: KeyFiles) {
    this.#keys = keys;
    this.#files = files;
    this.#isRotating = files !== undefined && keys.length > 1;
  }

  /** Keys that others keep. */
  static of(...keys: readonly [MasterKey, ...MasterKey[]]): MasterKeys {
    return new MasterKeys(keys);
  }

  /**
   * `SECRETS_KEY` and `SECRETS_KEY_FALLBACK`, or, embedded without them, the files in `DATA_DIR`, of which the first
   * start makes one.
   * @throws InvalidSetting naming the setting or the file that is wrong
   */
  static load({ secretsKey, secretsKeyFallback, embedded, dataDir }: Settings): MasterKeys {
    if (secretsKey !== undefined) {
      const fallback = secretsKeyFallback === undefined ? [] : [fromBase64(secretsKeyFallback)];
      return MasterKeys.of(fromBase64(secretsKey), ...fallback);
    }
    if (!embedded) throw new InvalidSetting('SECRETS_KEY: is required (32 random bytes in base64)');
    const files = new KeyFiles(dataDir);
    return new MasterKeys(files.read(), files);
  }

  /** The key that is written under. */
  get current(): MasterKey {
    return this.#keys[0];
  }

  /** The key of this id, if this process may read what is under it. */
  find(id: string): MasterKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  /**
   * What `MasterKey.derive` answers, of every key: the first one signs, and each of them verifies what was signed
   * before a rotation.
   */
  derive(purpose: string): readonly [Buffer, ...Buffer[]] {
    const [current, ...others] = this.#keys;
    return [current.derive(purpose), ...others.map((key) => key.derive(purpose))];
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
    return this.#isRotating;
  }

  /**
   * Where this process keeps its key itself: makes another, stores it and writes under it from now on, unless an
   * earlier rotation has come as far as that. Does nothing where the operator sets the keys.
   */
  beginRotation(): void {
    if (!this.#files || this.#isRotating) return;
    this.#keys = [this.#files.addNext(), ...this.#keys];
    this.#isRotating = true;
  }

  /**
   * Makes the current key the only one stored. Call it when nothing is left under the others. This process goes on
   * knowing those until it ends, for the sake of what they signed.
   */
  completeRotation(): void {
    if (!this.#isRotating) return;
    this.#files?.promoteNext();
    this.#isRotating = false;
  }

  /** True where the keys are the operator's settings, and so are changed there. */
  get areSettings(): boolean {
    return this.#files === undefined;
  }
}

function fromBase64(key: string): MasterKey {
  return new MasterKey(Buffer.from(key, 'base64'));
}
