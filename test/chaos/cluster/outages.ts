/** Where a fault acts. */
export type Part = 'PostgreSQL' | 'Redis' | 'processes';

export interface Outage {
  readonly part: Part;
  readonly what: string;
  readonly from: number;
  to: number | undefined;
}

const NEWEST = 8;

/** When which fault acted, by the monotonic clock. */
export class Outages {
  readonly all: Outage[] = [];

  begin(part: Part, what: string): Outage {
    const outage: Outage = { part, what, from: performance.now(), to: undefined };
    this.all.push(outage);
    return outage;
  }

  end(outage: Outage): void {
    outage.to = performance.now();
  }

  /** The newest ones, in words. */
  newest(): readonly string[] {
    const ago = (time: number): string => `${((performance.now() - time) / 1000).toFixed(1)} s ago`;
    return this.all
      .slice(-NEWEST)
      .map(({ what, from, to }) => `${what}: from ${ago(from)} ${to === undefined ? 'on' : `to ${ago(to)}`}`);
  }

  /** The last moment since `from` at which one of the parts was away; `from` if none was. */
  lastSince(from: number, parts: readonly Part[]): number {
    const ends = this.all
      .filter(({ part }) => parts.includes(part))
      .map(({ to }) => to ?? performance.now())
      .filter((to) => to > from);
    return Math.max(from, ...ends);
  }
}
