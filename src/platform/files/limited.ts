import { FileTooLarge } from './file-store.js';

/** @throws FileTooLarge at the first byte over the limit */
export async function* limited(
  content: AsyncIterable<Buffer>,
  maxBytes: number,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new FileTooLarge(maxBytes);
    count(bytes);
    yield chunk;
  }
}

/** Tells a failure of the source, which is its owner's to explain, from one of the store. */
export class WatchedSource implements AsyncIterable<Buffer> {
  private failure: { readonly error: unknown } | undefined;
  size = 0;

  constructor(
    private readonly source: AsyncIterable<Buffer>,
    private readonly maxBytes: number,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    const count = (bytes: number): void => {
      this.size = bytes;
    };
    try {
      yield* limited(this.source, this.maxBytes, count);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  /** What went wrong with the source; `otherwise` where it was not the source. */
  blame(otherwise: () => unknown): unknown {
    return this.failure ? this.failure.error : otherwise();
  }
}
