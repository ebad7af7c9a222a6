import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../platform/clock/index.js';
import type { ChildProcess, ProcessEnd } from '../../platform/processes/index.js';
import { MAX_MESSAGE_BYTES } from '../limits.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { MessageRate } from '../mcp/message-rate.js';
import { MAX_UNREAD_BYTES } from './limits.js';

const LINE_FEED = 0x0a;

/** Messages as lines of JSON, over the input and output of a child. A child that exceeds a limit of its output is killed. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private readonly rate: MessageRate;
  /** The limit that the child exceeded. */
  failure: McpFailure | undefined;
  /** The parts of the line that is not complete yet, and their length. */
  private parts: Buffer[] = [];
  private bytes = 0;

  constructor(
    private readonly child: ChildProcess,
    clock: Clock,
  ) {
    this.rate = new MessageRate(clock);
  }

  async start(): Promise<void> {
    const { output, ended } = this.child;
    output.on('data', (chunk: Buffer) => {
      if (!this.failure) this.receive(chunk);
    });
    // The output is read to its end even if the child has exited. A child that closes its output is useless.
    const read = new Promise<void>((resolve) => output.once('close', resolve)).then(() => this.child.close());
    void Promise.all([read, ended]).then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { input } = this.child;
    if (!input.writable || input.writableLength > MAX_UNREAD_BYTES) {
      throw new McpFailure('unreachable', 'The local server does not take any more requests.');
    }
    // Not awaited: a child that does not read exceeds the timeout of the answer.
    input.write(serializeMessage(message));
  }

  close(): Promise<void> {
    return this.child.close();
  }

  private receive(chunk: Buffer): void {
    const lines = this.linesOf(chunk);
    if (this.rate.exceededBy(lines.length, chunk.length)) {
      this.refuse('The local server wrote more than can be read and was ended.');
    }
    for (const line of lines) if (!this.failure) this.deliver(line);
  }

  /** The lines that the chunk completes. */
  private linesOf(chunk: Buffer): readonly string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.take(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.bytes = 0;
      start = end + 1;
    }
    this.take(chunk.subarray(start));
    return lines;
  }

  private take(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > MAX_MESSAGE_BYTES) this.refuse('The local server wrote a message larger than 1 MB and was ended.');
    else if (part.length > 0) this.parts.push(part);
  }

  /** Some servers write other lines between their messages. */
  private deliver(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      return;
    }
    this.onmessage?.(message);
  }

  private refuse(message: string): void {
    this.failure ??= new McpFailure('too_large', message);
    void this.child.kill();
  }
}

/** The failure that the end of a child means for its callers. */
export function failureOfEnd(end: ProcessEnd): McpFailure {
  switch (end.excess) {
    case 'memory':
      return new McpFailure('process', 'The local server took too much memory and was ended.');
    case 'processes':
      return new McpFailure('process', 'The local server started too many processes and was ended.');
    case null:
      return new McpFailure('process', exitText(end));
    default:
      return end.excess satisfies never;
  }
}

/** Whether the program is not installed or cannot be executed. */
export function isProgramMissing({ exitCode }: ProcessEnd): boolean {
  return exitCode === 126 || exitCode === 127;
}

function exitText(end: ProcessEnd): string {
  if (isProgramMissing(end)) return 'The program of the local server is not installed, or cannot be run.';
  return `The local server ended unexpectedly (${end.exitCode === null ? 'by a signal' : `exit code ${end.exitCode}`}).`;
}
