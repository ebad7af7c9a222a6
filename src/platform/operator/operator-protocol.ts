import type { Socket } from 'node:net';
import { z } from 'zod';
import { messageOf } from './failure.js';
import { UsageError } from './operator-command.js';

const MAX_LINE = 1024 * 1024;

/** One line of JSON each way; a connection carries one request. */
export const operatorRequest = z.object({ line: z.array(z.string()) });

export const operatorAnswer = z.union([
  z.object({ ok: z.literal(true), result: z.record(z.string(), z.unknown()) }),
  z.object({ ok: z.literal(false), usage: z.boolean(), message: z.string() }),
]);

export type OperatorAnswer = z.output<typeof operatorAnswer>;

/** What a command came to. */
export async function answerOf(work: Promise<object>): Promise<OperatorAnswer> {
  try {
    return { ok: true, result: { ...(await work) } };
  } catch (error) {
    return { ok: false, usage: error instanceof UsageError, message: messageOf(error) };
  }
}

export function sendLine(socket: Socket, value: unknown): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

/**
 * The first line that arrives; undefined when the other side ends without one.
 * @throws Error when the connection breaks, or the line is longer than any request or answer is
 */
export async function receiveLine(socket: Socket): Promise<string | undefined> {
  let text = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const end = text.indexOf('\n');
    if (end >= 0) return text.slice(0, end);
    if (text.length > MAX_LINE) throw new Error(`The line is longer than ${MAX_LINE} characters`);
  }
  return undefined;
}
