import { createHmac } from 'node:crypto';
import { open, seal } from './sealed-box.js';

const KEY_BYTES = 32;

/** The key that wraps every data key. It never leaves this object. */
export class MasterKey {
  readonly #bytes: Buffer;
  readonly #derived = new Map<string, Buffer>();
  /** Identifies the key without revealing it; stored with each secret, for rotation. */
  readonly id: string;

  constructor(bytes: Buffer) {
    if (bytes.length !== KEY_BYTES) throw new RangeError(`A master key has ${String(KEY_BYTES)} bytes`);
    this.#bytes = Buffer.from(bytes);
    this.id = createHmac('sha256', this.#bytes).update('master key id').digest('hex').slice(0, 16);
  }

  /** A key for another purpose, from which this one cannot be computed. */
  derive(purpose: string): Buffer {
    const known = this.#derived.get(purpose);
    if (known) return known;
    const derived = createHmac('sha256', this.#bytes).update(`derived key: ${purpose}`).digest();
    this.#derived.set(purpose, derived);
    return derived;
  }

  wrap(dataKey: Buffer, context: Buffer): Buffer {
    return seal(this.#bytes, dataKey, context);
  }

  /** @throws Error if the box was sealed with another key or for another context, or was changed */
  unwrap(wrapped: Buffer, context: Buffer): Buffer {
    return open(this.#bytes, wrapped, context);
  }
}
