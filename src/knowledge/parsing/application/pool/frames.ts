import type { UnreadableReason } from '../../domain/parsing.errors.js';
import type { Block, ParsedDocument } from '../../domain/parsed-document.js';

/**
 * What a parser sends, one message a frame: the blocks in as many parts as they need, then the rest of the document. The
 * service sends it a `DocumentRequest` and then the content in further frames, up to an empty one.
 */
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

/** A frame is a length in four bytes, followed by that many bytes. */
export function frameOf(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  return Buffer.concat([frameHeader(body.length), body]);
}

/** Ends where the stream ends, even within a frame. @throws an error for a frame of more than `maxBytes` */
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
        if (wanted > maxBytes) throw new Error(`A frame has ${wanted} bytes, at most ${maxBytes} are allowed`);
      } else {
        wanted = undefined;
        yield taken;
      }
    }
  }
}
