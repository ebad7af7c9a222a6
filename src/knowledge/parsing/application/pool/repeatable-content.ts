import { KEPT_FOR_RETRY_BYTES } from '../../limits.js';

type Parts = AsyncIterable<Buffer>;

/** The parts of a document that may have to be sent a second time: a small one is kept, of others there may be a second reading. */
export class RepeatableContent {
  private kept: readonly Buffer[] | undefined;
  private reads = 0;

  constructor(
    private readonly content: Parts | (() => Parts),
    private readonly size: number,
  ) {}

  /** Whether `read` gives all of it, again. */
  get canRead(): boolean {
    return this.reads === 0 || this.kept !== undefined || typeof this.content === 'function';
  }

  async *read(): AsyncGenerator<Buffer> {
    this.reads += 1;
    if (typeof this.content === 'function') yield* this.content();
    else if (this.kept === undefined && this.size > KEPT_FOR_RETRY_BYTES) yield* this.content;
    else yield* (this.kept ??= await collect(this.content));
  }
}

async function collect(content: Parts): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > KEPT_FOR_RETRY_BYTES) throw new Error('The document is larger than was said');
    parts.push(part);
  }
  return parts;
}
