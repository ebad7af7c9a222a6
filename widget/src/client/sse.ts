/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** The last id that the stream has sent, as in the standard; empty if it has sent none. */
  readonly id: string;
  readonly data: string;
}

/** In characters; far larger than any event of the service. */
const MAX_EVENT = 16 * 1024 * 1024;
const LINE_END = /\r\n|\n|\r/g;

/** Parses the text of a stream in arbitrary chunks into events, in linear time. */
export class EventParser {
  private pieces: string[] = [];
  private size = 0;
  private data: string[] = [];
  private id = '';
  private endedWithReturn = false;
  private isFirst = true;

  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let rest = this.isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
    if (text !== '') this.isFirst = false;
    // The line feed of a line end that was split between two chunks.
    if (this.endedWithReturn && rest.startsWith('\n')) rest = rest.slice(1);
    if (text !== '') this.endedWithReturn = rest === '' ? false : rest.endsWith('\r');
    let start = 0;
    for (const { 0: end, index } of rest.matchAll(LINE_END)) {
      const line = this.pieces.join('') + rest.slice(start, index);
      this.pieces = [];
      start = index + end.length;
      const event = this.line(line);
      if (event) events.push(event);
    }
    if (start < rest.length) this.keep(rest.slice(start));
    return events;
  }

  private keep(piece: string): void {
    this.pieces.push(piece);
    this.grow(piece.length);
  }

  private grow(by: number): void {
    this.size += by;
    if (this.size > MAX_EVENT) throw new Error('An event of the stream is too large');
  }

  private line(line: string): ServerSentEvent | null {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    // A comment, which keeps the connection alive.
    if (colon === 0) return null;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') {
      this.data.push(value);
      this.grow(value.length);
    } else if (field === 'id' && !value.includes('\0')) this.id = value;
    return null;
  }

  private dispatch(): ServerSentEvent | null {
    const { data, id } = this;
    this.data = [];
    this.size = 0;
    return data.length === 0 ? null : { id, data: data.join('\n') };
  }
}

/**
 * Reads a stream to its end.
 * @param onBytes called for every chunk, also for comments
 */
export async function* readServerSentEvents(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parser = new EventParser();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes();
    yield* parser.push(decoder.decode(value, { stream: true }));
  }
}
