/** Runs at most `free` pieces of work at a time; the others wait in the order of their calls. */
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
      // Passes its slot on instead of freeing it, so that a later caller cannot take it first.
      if (next) next();
      else this.free += 1;
    }
  }
}
