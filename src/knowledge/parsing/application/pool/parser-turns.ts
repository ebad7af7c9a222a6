import { untilAborted } from '../../../../platform/clock/index.js';
import {
  MAX_PROCESSOR_MS,
  MAX_QUICK_BYTES,
  MAX_SLOW_PARSERS,
  PROCESSOR_MS,
  PROCESSOR_MS_PER_MIB,
} from '../../limits.js';

/** One document that waits for a parser or has one. */
export class ParserTurn {
  /** Large documents are slow from the beginning, others when they have taken long. */
  isSlow: boolean;
  /** Processor time that it may take over all attempts, and what it has taken. */
  readonly limitMs: number;
  usedMs = 0;

  constructor(
    readonly organizationId: string,
    size: number,
  ) {
    this.isSlow = size > MAX_QUICK_BYTES;
    this.limitMs = Math.min(MAX_PROCESSOR_MS, PROCESSOR_MS + Math.floor(size / (1024 * 1024)) * PROCESSOR_MS_PER_MIB);
  }
}

interface Waiter {
  readonly turn: ParserTurn;
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * Who may use a parser. The organization that had its last turn longest ago is next, with the first of its documents that
 * may run. An organization has one slow document at a time and never all parsers, and the slow ones of all leave a parser
 * to the quick: a quick document waits for those that came before it for as long as a quick one may take.
 */
export class ParserTurns {
  private readonly waiters = new Set<Waiter>();
  private readonly running = new Set<ParserTurn>();
  /** The number of each organization's last turn; organizations are forgotten when there is nothing to do. */
  private readonly lastTurns = new Map<string, number>();
  private turns = 0;

  constructor(private readonly max: number) {}

  get waiting(): number {
    return this.waiters.size;
  }

  /** Resolves when it is the document's turn, which lasts until `leave`. @throws the signal's reason, or that of `refuseAll` */
  async enter(turn: ParserTurn, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter = { turn, admit: () => resolve(undefined), refuse: reject };
    this.waiters.add(waiter);
    this.admitNext();
    try {
      await untilAborted(promise, signal);
    } catch (error) {
      this.waiters.delete(waiter);
      // It may have been admitted at the moment at which it was given up.
      this.leave(turn);
      throw error;
    }
  }

  leave(turn: ParserTurn): void {
    this.running.delete(turn);
    this.admitNext();
    if (this.running.size + this.waiters.size === 0) this.lastTurns.clear();
  }

  /** Makes a running document a slow one. @returns false where it has to wait for other slow ones */
  becomeSlow(turn: ParserTurn): boolean {
    turn.isSlow ||= this.hasRoomForSlow(turn.organizationId);
    return turn.isSlow;
  }

  refuseAll(reason: Error): void {
    for (const waiter of this.waiters) waiter.refuse(reason);
    this.waiters.clear();
  }

  private admitNext(): void {
    for (let next = this.next(); next; next = this.next()) {
      this.waiters.delete(next);
      this.running.add(next.turn);
      this.turns += 1;
      this.lastTurns.set(next.turn.organizationId, this.turns);
      next.admit();
    }
  }

  /** Of those that may run, one of the organization that had its last turn longest ago; the first that came of several. */
  private next(): Waiter | undefined {
    const lastTurn = ({ turn }: Waiter): number => this.lastTurns.get(turn.organizationId) ?? 0;
    return [...this.waiters]
      .filter(({ turn }) => this.mayRun(turn))
      .sort((left, right) => lastTurn(left) - lastTurn(right))[0];
  }

  private mayRun({ organizationId, isSlow }: ParserTurn): boolean {
    if (this.running.size >= this.max || (isSlow && !this.hasRoomForSlow(organizationId))) return false;
    const own = [...this.running].filter((turn) => turn.organizationId === organizationId);
    return this.max === 1 || own.length < this.max - 1;
  }

  private hasRoomForSlow(organizationId: string): boolean {
    const slow = [...this.running].filter((turn) => turn.isSlow);
    return slow.length < MAX_SLOW_PARSERS && !slow.some((turn) => turn.organizationId === organizationId);
  }
}
