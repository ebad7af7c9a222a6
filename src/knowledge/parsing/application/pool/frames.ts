import type { UnreadableReason } from '../../domain/parsing.errors.js';
import type { Block, ParsedDocument } from '../../domain/parsed-document.js';

/** What a parser says, one to a frame. The service sends it a `DocumentRequest`, whose bytes follow in frames of their own until an empty one; blocks come in as many parts as they need, then the rest of the document. */
export type ParserMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'blocks'; readonly blocks: readonly Block[] }
  | { readonly kind: 'document'; readonly document: Omit<ParsedDocument, 'blocks'> }
  | {
      readonly kind: 'unreadable';
      readonly reason: UnreadableReason;
      readonly message: string;
      readonly detail?: string;
    };

const LENGTH_BYTES = 4;

export function frameHeader(length: number): Buffer {
  const header = Buffer.allocUnsafe(LENGTH_BYTES);
  header.writeUInt32BE(length);
  return header;
}

/** A frame is its length in four bytes, and so many bytes. */
export function frameOf(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  return Buffer.concat([frameHeader(body.length), body]);
}

/** The frames of a stream; ends where the stream does, also within a frame. @throws where one is longer than it may be */
export async function* readFrames(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  let wanted: number | undefined;
  for await (const part of stream) {
    parts.push(part);
    held += part.length;
    for (;;) {
      const needed = wanted ?? LENGTH_BYTES;
      if (held < needed) break;
      const [first = part] = parts;
      const all = parts.length === 1 ? first : Buffer.concat(parts, held);
      const taken = all.subarray(0, needed);
      parts = [all.subarray(needed)];
      held -= needed;
      if (wanted === undefined) {
        wanted = taken.readUInt32BE();
        if (wanted > maxBytes) throw new Error(`A frame of ${wanted} bytes`);
      } else {
        wanted = undefined;
        yield taken;
      }
    }
  }
}
