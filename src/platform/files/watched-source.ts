import { FileTooLarge } from './file-store.js';

/** Bytes at the start of a file from which its type is detected. */
const HEAD_BYTES = 4_096;

/** Counts the bytes of a content, and distinguishes its failures from those of the store. */
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

  /** The error of the content, or `otherwise` if the content did not fail. */
  errorOr(otherwise: () => unknown): unknown {
    return this.failure ? this.failure.error : otherwise();
  }
}
