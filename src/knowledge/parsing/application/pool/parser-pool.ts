import { type Clock, SystemClock } from '../../../../platform/clock/index.js';
import type { ChildProcess } from '../../../../platform/processes/index.js';
import { PARSER_IDLE_MS } from '../../limits.js';
import { ParserProcess } from './parser-process.js';
import { type ParserTurn, ParserTurns } from './parser-turns.js';

/**
 * Parser processes that start when they are needed and end when they are not. Real time, since what is waited for is the
 * machine's.
 */
export class ParserPool {
  /** Each with what stops its timer. */
  private readonly resting = new Map<ParserProcess, () => void>();
  private readonly busy = new Set<ParserProcess>();
  private readonly ending = new Set<Promise<void>>();
  private readonly turns: ParserTurns;
  private isClosed = false;

  constructor(
    private readonly startChild: () => Promise<ChildProcess>,
    max: number,
    private readonly clock: Clock = new SystemClock(),
  ) {
    this.turns = new ParserTurns(max);
  }

  /** Processes, those that rest included. */
  get size(): number {
    return this.busy.size + this.resting.size;
  }

  get waiting(): number {
    return this.turns.waiting;
  }

  /** Does it with a parser that nobody else uses meanwhile, when one is free. The task asks `mayGoOn` when it turns out to be slow. */
  async use<Result>(
    turn: ParserTurn,
    signal: AbortSignal,
    task: (parser: ParserProcess, mayGoOn: () => boolean) => Promise<Result>,
  ): Promise<Result> {
    if (this.isClosed) throw closed();
    await this.turns.enter(turn, signal);
    try {
      const parser = await this.take();
      try {
        return await task(parser, () => this.turns.becomeSlow(turn));
      } finally {
        this.busy.delete(parser);
        this.rest(parser);
      }
    } finally {
      this.turns.leave(turn);
    }
  }

  /** Ends all of them; what is being read is read no further. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.turns.refuseAll(closed());
    for (const parser of this.resting.keys()) this.end(parser);
    await Promise.all([...[...this.busy].map(({ child }) => child.kill()), ...this.ending]);
  }

  private async take(): Promise<ParserProcess> {
    // The one that was used last: others may end.
    const rested = [...this.resting.keys()].findLast(({ child }) => !child.hasEnded);
    if (rested) {
      this.resting.get(rested)?.();
      this.resting.delete(rested);
    }
    const parser = rested ?? (await ParserProcess.start(await this.startChild(), this.clock));
    this.busy.add(parser);
    // Closed while it came up.
    if (this.isClosed) {
      this.busy.delete(parser);
      await parser.child.kill();
      throw closed();
    }
    return parser;
  }

  private rest(parser: ParserProcess): void {
    if (this.isClosed) this.end(parser);
    else if (!parser.child.hasEnded)
      this.resting.set(
        parser,
        this.clock.every(PARSER_IDLE_MS, () => this.end(parser)),
      );
  }

  private end(parser: ParserProcess): void {
    this.resting.get(parser)?.();
    this.resting.delete(parser);
    if (parser.child.hasEnded) return;
    const ending = parser.child.close().finally(() => this.ending.delete(ending));
    this.ending.add(ending);
  }
}

function closed(): Error {
  return new Error('The service is stopping');
}
