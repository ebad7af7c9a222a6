/** One who waits for a parser. */
export interface Waiter {
  readonly origin: string;
  /** Files may take seconds; they leave a parser to the pages where there is more than one. */
  readonly isFile: boolean;
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

/** Origins of which is known when they had their last turn; one that is forgotten counts as new. */
const MAX_REMEMBERED = 1_000;

/** Those who wait, in the order of coming for each origin, and with the origins taking turns: the one that had its last turn longest ago is next. */
export class TurnQueue {
  /** Of each origin, the number of its last turn; the longest ago first. */
  private readonly turns = new Map<string, number>();
  private turn = 0;
  private readonly waiting = new Map<string, Waiter[]>();

  add(waiter: Waiter): void {
    const line = this.waiting.get(waiter.origin);
    if (line) line.push(waiter);
    else this.waiting.set(waiter.origin, [waiter]);
  }

  remove(waiter: Waiter): void {
    const line = this.waiting.get(waiter.origin)?.filter((other) => other !== waiter) ?? [];
    if (line.length === 0) this.waiting.delete(waiter.origin);
    else this.waiting.set(waiter.origin, line);
  }

  /** Takes the next one out; without files the next page. */
  take(withFiles: boolean): Waiter | undefined {
    const next = (line: readonly Waiter[]): number => (withFiles ? 0 : line.findIndex(({ isFile }) => !isFile));
    let first: { readonly line: Waiter[]; readonly lastTurn: number } | undefined;
    for (const [origin, line] of this.waiting) {
      const lastTurn = this.turns.get(origin) ?? 0;
      if (next(line) >= 0 && (!first || lastTurn < first.lastTurn)) first = { line, lastTurn };
    }
    const [waiter] = first ? first.line.splice(next(first.line), 1) : [];
    if (!waiter) return undefined;
    if (first?.line.length === 0) this.waiting.delete(waiter.origin);
    this.hadTurn(waiter.origin);
    return waiter;
  }

  /** Also of those who did not have to wait. */
  hadTurn(origin: string): void {
    this.turn += 1;
    this.turns.delete(origin);
    this.turns.set(origin, this.turn);
    const [oldest] = this.turns.size > MAX_REMEMBERED ? this.turns.keys() : [];
    if (oldest !== undefined) this.turns.delete(oldest);
  }

  get size(): number {
    let size = 0;
    for (const line of this.waiting.values()) size += line.length;
    return size;
  }
}
