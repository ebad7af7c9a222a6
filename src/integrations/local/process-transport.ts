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
import { MAX_BYTES_PER_SECOND, MAX_MESSAGES_PER_SECOND } from '../mcp/mcp-limits.js';
import { MessageRate } from '../mcp/message-rate.js';
import { MAX_UNREAD_BYTES } from './limits.js';
import { MessageLines } from './message-lines.js';

/** Messages as lines of JSON, over the input and output of a child. A child that says too much is killed. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private readonly lines = new MessageLines(MAX_MESSAGE_BYTES, () => {
    this.refuse(new McpFailure('too_large', 'The local server wrote a message larger than 1 MB and was ended.'));
  });
  private readonly rate: MessageRate;
  private refusal: McpFailure | undefined;

  constructor(
    private readonly child: ChildProcess,
    clock: Clock,
  ) {
    this.rate = new MessageRate(clock, { messages: MAX_MESSAGES_PER_SECOND, bytes: MAX_BYTES_PER_SECOND });
  }

  /** Why the child was ended for what it wrote. */
  get failure(): McpFailure | undefined {
    return this.refusal;
  }

  async start(): Promise<void> {
    const { output, ended } = this.child;
    output.on('data', (chunk: Buffer) => {
      if (!this.refusal) this.receive(chunk);
    });
    // What it said last counts, and a child that says nothing any more is of no use.
    const read = new Promise<void>((resolve) => output.once('close', resolve)).then(() => this.child.close());
    void Promise.all([read, ended]).then(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { input } = this.child;
    if (!input.writable || input.writableLength > MAX_UNREAD_BYTES) {
      throw new McpFailure('unreachable', 'The local server does not take any more requests.');
    }
    // Whether it is read at all shows in the answer, for which there is a time limit.
    input.write(serializeMessage(message));
  }

  close(): Promise<void> {
    return this.child.close();
  }

  private receive(chunk: Buffer): void {
    const lines = this.lines.push(chunk);
    if (this.rate.exceededBy(lines.length, chunk.length)) {
      this.refuse(new McpFailure('too_large', 'The local server wrote more than can be read and was ended.'));
    }
    for (const line of lines) if (!this.refusal) this.deliver(line);
  }

  /** Some servers write other things among their messages. */
  private deliver(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      return;
    }
    this.onmessage?.(message);
  }

  private refuse(failure: McpFailure): void {
    this.refusal ??= failure;
    void this.child.kill();
  }
}

/** What the end of a child means to those who use it. */
export function failureOfEnd({ exitCode, excess }: ProcessEnd): McpFailure {
  switch (excess) {
    case 'memory':
      return new McpFailure('process', 'The local server took too much memory and was ended.');
    case 'processes':
      return new McpFailure('process', 'The local server started too many processes and was ended.');
    case null:
      return new McpFailure('process', exitText(exitCode));
    default:
      return excess satisfies never;
  }
}

/** The program itself cannot be run, whatever it is told. */
export function isNoProgram({ exitCode }: ProcessEnd): boolean {
  return exitCode === 126 || exitCode === 127;
}

function exitText(exitCode: number | null): string {
  if (exitCode === 126 || exitCode === 127)
    return 'The program of the local server is not installed, or cannot be run.';
  return `The local server ended unexpectedly (${exitCode === null ? 'by a signal' : `exit code ${exitCode}`}).`;
}
