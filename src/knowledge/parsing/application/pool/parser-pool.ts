import { type Clock, SystemClock } from '../../../../platform/clock/index.js';
import type { ChildProcess } from '../../../../platform/processes/index.js';
import { PARSER_IDLE_MS } from '../../limits.js';
import { ParserProcess } from './parser-process.js';
import { TurnQueue, type Waiter } from './turn-queue.js';

export interface PoolTurn {
  readonly origin: string;
  readonly isFile: boolean;
}

/**
 * Parser processes that start when they are needed and end when they are not. Real time, since what is waited for is the
 * machine's.
 */
export class ParserPool {
  private readonly resting: { readonly parser: ParserProcess; readonly wake: () => void }[] = [];
  private readonly running = new Set<ParserProcess>();
  private readonly ending = new Set<Promise<void>>();
  private readonly queue = new TurnQueue();
  private busy = 0;
  private files = 0;
  private isClosed = false;

  constructor(
    private readonly startChild: () => Promise<ChildProcess>,
    private readonly max: number,
    private readonly clock: Clock = new SystemClock(),
  ) {}

  /** Processes, those that rest included. */
  get size(): number {
    return this.running.size + this.resting.length;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Does it with a parser that nobody else uses meanwhile, when one is free. */
  async use<Result>(turn: PoolTurn, signal: AbortSignal, task: (parser: ParserProcess) => Promise<Result>): Promise<Result> {
    await this.enter(turn, signal);
    try {
      const parser = await this.take();
      try {
        return await task(parser);
      } finally {
        this.running.delete(parser);
        this.rest(parser);
      }
    } finally {
      this.leave(turn);
    }
  }

  /** Ends all of them; what is being read is read no further. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (let waiter = this.queue.take(true); waiter; waiter = this.queue.take(true)) waiter.refuse(closed());
    const resting = this.resting.splice(0).map(({ parser, wake }) => {
      wake();
      return parser.close();
    });
    await Promise.all([...resting, ...[...this.running].map((parser) => parser.kill()), ...this.ending]);
  }

  private async enter(turn: PoolTurn, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.isClosed) throw closed();
    if (this.queue.size > 0 || !this.isFreeFor(turn)) return this.wait(turn, signal);
    this.queue.hadTurn(turn.origin);
    this.admit(turn);
  }

  private wait(turn: PoolTurn, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.queue.remove(waiter);
        reject(signal.reason as Error);
      };
      const done = (): void => signal.removeEventListener('abort', abort);
      const waiter: Waiter = {
        ...turn,
        admit: () => {
          done();
          resolve();
        },
        refuse: (reason) => {
          done();
          reject(reason);
        },
      };
      this.queue.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
      // Those before it may be files that wait for other files.
      this.admitWaiting();
    });
  }

  private isFreeFor({ isFile }: PoolTurn): boolean {
    return this.busy < this.max && (!isFile || this.files < Math.max(1, this.max - 1));
  }

  private admit({ isFile }: PoolTurn): void {
    this.busy += 1;
    if (isFile) this.files += 1;
  }

  private leave({ isFile }: PoolTurn): void {
    this.busy -= 1;
    if (isFile) this.files -= 1;
    this.admitWaiting();
  }

  private admitWaiting(): void {
    while (this.isFreeFor({ origin: '', isFile: false })) {
      const waiter = this.queue.take(this.isFreeFor({ origin: '', isFile: true }));
      if (!waiter) return;
      this.admit(waiter);
      waiter.admit();
    }
  }

  private async take(): Promise<ParserProcess> {
    for (let free = this.resting.pop(); free; free = this.resting.pop()) {
      free.wake();
      if (!free.parser.canGoOn) continue;
      free.parser.keepsOwner(true);
      this.running.add(free.parser);
      return free.parser;
    }
    const parser = await ParserProcess.start(await this.startChild(), this.clock);
    this.running.add(parser);
    // Closed while it came up.
    if (this.isClosed) {
      this.running.delete(parser);
      await parser.kill();
      throw closed();
    }
    return parser;
  }

  private rest(parser: ParserProcess): void {
    if (this.isClosed || !parser.canGoOn) {
      this.end(parser);
      return;
    }
    parser.keepsOwner(false);
    const entry = {
      parser,
      // A timer that keeps no process alive; it fires once.
      wake: this.clock.every(PARSER_IDLE_MS, () => {
        entry.wake();
        this.resting.splice(this.resting.indexOf(entry), 1);
        this.end(parser);
      }),
    };
    this.resting.push(entry);
  }

  private end(parser: ParserProcess): void {
    if (parser.hasEnded) return;
    const ending = parser.close().finally(() => this.ending.delete(ending));
    this.ending.add(ending);
  }
}

function closed(): Error {
  return new Error('The service is stopping');
}
