import { type Clock, SystemClock } from '../../../../platform/clock/index.js';
import type { ChildProcess } from '../../../../platform/processes/index.js';
import { PARSER_IDLE_MS } from '../../limits.js';
import { ParserProcess } from './parser-process.js';
import { ParserQueue, type QueuedDocument } from './parser-queue.js';

/** Starts parser processes when documents need them, and ends them when they are idle. */
export class ParserPool {
  /** Idle processes, each with the function that cancels its timer. */
  private readonly idle = new Map<ParserProcess, () => void>();
  private readonly busy = new Set<ParserProcess>();
  private readonly ending = new Set<Promise<void>>();
  private readonly queue: ParserQueue;
  private isClosed = false;

  /** @param clock real time by default, since the processes take real time */
  constructor(
    private readonly startChild: () => Promise<ChildProcess>,
    max: number,
    private readonly clock: Clock = new SystemClock(),
  ) {
    this.queue = new ParserQueue(max);
  }

  get size(): number {
    return this.busy.size + this.idle.size;
  }

  get waiting(): number {
    return this.queue.waiting;
  }

  /** Waits for a parser and runs the task with it. The task calls `mayContinue` when the document turns out to be slow. */
  async use<Result>(
    document: QueuedDocument,
    signal: AbortSignal,
    task: (parser: ParserProcess, mayContinue: () => boolean) => Promise<Result>,
  ): Promise<Result> {
    if (this.isClosed) throw closed();
    await this.queue.enter(document, signal);
    try {
      const parser = await this.take();
      try {
        return await task(parser, () => this.queue.becomeSlow(document));
      } finally {
        this.busy.delete(parser);
        this.release(parser);
      }
    } finally {
      this.queue.leave(document);
    }
  }

  /** Ends all processes. Documents that are being parsed fail. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.queue.refuseAll(closed());
    for (const parser of this.idle.keys()) this.end(parser);
    await Promise.all([...[...this.busy].map(({ child }) => child.kill()), ...this.ending]);
  }

  private async take(): Promise<ParserProcess> {
    // The one that was used last, so that the others become idle for long enough to end.
    const idle = [...this.idle.keys()].findLast(({ child }) => !child.hasEnded);
    if (idle) {
      this.idle.get(idle)?.();
      this.idle.delete(idle);
    }
    const parser = idle ?? (await ParserProcess.start(await this.startChild(), this.clock));
    this.busy.add(parser);
    // The pool may have been closed while the process started.
    if (this.isClosed) {
      this.busy.delete(parser);
      await parser.child.kill();
      throw closed();
    }
    return parser;
  }

  private release(parser: ParserProcess): void {
    if (this.isClosed) this.end(parser);
    else if (!parser.child.hasEnded)
      this.idle.set(
        parser,
        this.clock.every(PARSER_IDLE_MS, () => this.end(parser)),
      );
  }

  private end(parser: ParserProcess): void {
    this.idle.get(parser)?.();
    this.idle.delete(parser);
    if (parser.child.hasEnded) return;
    const ending = parser.child.close().finally(() => this.ending.delete(ending));
    this.ending.add(ending);
  }
}

function closed(): Error {
  return new Error('The service is stopping');
}
