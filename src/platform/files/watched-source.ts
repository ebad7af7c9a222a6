import { FileTooLarge } from './file-store.js';

/** Bytes from the start of a file that tell its type. */
const HEAD_BYTES = 4_096;

/** Counts a content, and tells a failure of it, which is its owner's to explain, from one of the store. */
export class WatchedSource implements AsyncIterable<Buffer> {
  size = 0;
  head = Buffer.alloc(0);
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private readonly source: AsyncIterable<Buffer>,
    private readonly maxBytes: number,
  ) {}

  /** @throws FileTooLarge at the first byte over the limit */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of this.source) {
        this.size += chunk.length;
        if (this.size > this.maxBytes) throw new FileTooLarge(this.maxBytes);
        const missing = HEAD_BYTES - this.head.length;
        if (missing > 0) this.head = Buffer.concat([this.head, chunk.subarray(0, missing)]);
        yield chunk;
      }
    } catch (error) {
      this.failure ??= { error };
      throw error;
    }
  }

  /** What went wrong with the source; `otherwise` where it was not the source. */
  blame(otherwise: () => unknown): unknown {
    return this.failure ? this.failure.error : otherwise();
  }
}
