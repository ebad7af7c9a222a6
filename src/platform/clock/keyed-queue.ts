/** Runs pieces of work with the same key one after the other. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(key);
    // A failure of the previous work concerns only its own caller.
    const running = (before ?? Promise.resolve()).then(work, work);
    this.last.set(key, running);
    try {
      return await running;
    } finally {
      if (this.last.get(key) === running) this.last.delete(key);
    }
  }
}
