/** Runs at most so many pieces of work at a time; the others wait, in the order in which they came. */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // Handed on rather than freed: a later caller does not get in between.
      if (next) next();
      else this.free += 1;
    }
  }
}
