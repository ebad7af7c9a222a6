import type { Readable } from 'node:stream';
import { DomainError } from '../errors/index.js';
import { decodedBody } from './decoded-body.js';
import { EgressFailed } from './egress.errors.js';
import type { EgressBody } from './safe-http.js';
import type { TimeLimit } from './time-limit.js';

/** The body of a response. Its end also ends the request's time limit. */
export class ReceivedBody implements EgressBody {
  constructor(
    private readonly source: Readable,
    private readonly contentEncoding: string | undefined,
    private readonly maxBytes: number,
    private readonly limit: TimeLimit,
  ) {
    // Without a listener, the abort of an unread stream would end the process.
    source.on('error', () => undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield* decodedBody(this.source as AsyncIterable<Buffer>, this.contentEncoding, this.maxBytes);
    } catch (error) {
      throw this.explained(error);
    } finally {
      this.discard();
    }
  }

  async buffer(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async text(): Promise<string> {
    return (await this.buffer()).toString('utf8');
  }

  discard(): void {
    this.limit.end();
    this.source.destroy();
  }

  private explained(error: unknown): unknown {
    const { signal } = this.limit;
    if (signal.aborted) return signal.reason;
    return error instanceof DomainError ? error : new EgressFailed('protocol', { detail: 'body', cause: error });
  }
}
