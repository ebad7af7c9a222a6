import { timingSafeEqual } from 'node:crypto';
import { InvalidSetting, type Settings } from '../config/index.js';
import { KeyFiles } from './key-files.js';
import { MasterKey } from './master-key.js';

/** The master keys of this process. The first one encrypts; all of them decrypt. */
export class MasterKeys {
  #keys: readonly [MasterKey, ...MasterKey[]];
  readonly #files: KeyFiles | undefined;
  #isRotating: boolean;

  private constructor(keys: readonly [MasterKey, ...MasterKey[]], files?: KeyFiles) {
    this.#keys = keys;
    this.#files = files;
    this.#isRotating = files !== undefined && keys.length > 1;
  }

  /** Keys that the operator keeps. */
  static of(...keys: readonly [MasterKey, ...MasterKey[]]): MasterKeys {
    return new MasterKeys(keys);
  }

  /**
   * `SECRETS_KEY` and `SECRETS_KEY_FALLBACK`, or without them, on the embedded database, the files in `DATA_DIR`, which the first
   * start creates.
   * @throws InvalidSetting that names the wrong setting or file
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

  get current(): MasterKey {
    return this.#keys[0];
  }

  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** The setting or file that has the key. */
  get place(): string {
    return this.#files ? `DATA_DIR: ${this.#files.file}` : 'SECRETS_KEY';
  }

  find(id: string): MasterKey | undefined {
    return this.#keys.find((key) => key.id === id);
  }

  /**
   * The result of `MasterKey.derive` for every key: the first one signs, and all of them verify, because a signature may be older
   * than a rotation.
   */
  derive(purpose: string): readonly [Buffer, ...Buffer[]] {
    const [current, ...others] = this.#keys;
    return [current.derive(purpose), ...others.map((key) => key.derive(purpose))];
  }

  /** Whether `given` is the signature of any derived key, compared in constant time. */
  verifies(purpose: string, given: Buffer, sign: (key: Buffer) => Buffer): boolean {
    return this.derive(purpose).some((key) => {
      const expected = sign(key);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  /** Whether a rotation has stored a new key and still has the old one. */
  get isRotating(): boolean {
    return this.#isRotating;
  }

  /**
   * Creates and stores another key, which encrypts from now on, unless an earlier rotation did so. Does nothing if the operator
   * sets the keys.
   */
  beginRotation(): void {
    if (!this.#files || this.#isRotating) return;
    this.#keys = [this.#files.addNext(), ...this.#keys];
    this.#isRotating = true;
  }

  /**
   * Removes the stored keys other than the current one, once no secret needs them. This process keeps them in memory until it ends,
   * to verify their signatures.
   */
  completeRotation(): void {
    if (!this.#isRotating) return;
    this.#files?.promoteNext();
    this.#isRotating = false;
  }

  get areSettings(): boolean {
    return this.#files === undefined;
  }
}

function fromBase64(key: string): MasterKey {
  return new MasterKey(Buffer.from(key, 'base64'));
}
