/** One server-sent event as a client reads it. */
export interface ServerSentEvent {
  readonly id: string | null;
  readonly data: string;
}

/** Reads an event stream; comments are left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let pending = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    pending += chunk;
    for (;;) {
      const end = pending.indexOf('\n\n');
      if (end < 0) break;
      const event = parseEvent(pending.slice(0, end));
      pending = pending.slice(end + 2);
      if (event) yield event;
    }
  }
}

/** @returns null for a comment */
export function parseEvent(block: string): ServerSentEvent | null {
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id:')) id = line.slice(3).trim();
    if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
  }
  return data.length === 0 ? null : { id, data: data.join('\n') };
}
