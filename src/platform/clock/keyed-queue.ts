/** Runs what has the same key one after the other. */
export class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.last.get(key);
    // Whether the one before failed is for its own caller to hear.
    const running = before ? before.then(work, work) : begin(work);
    this.last.set(key, running);
    try {
      return await running;
    } finally {
      if (this.last.get(key) === running) this.last.delete(key);
    }
  }
}

/** What throws before it waits has failed like any other. */
async function begin<Result>(work: () => Promise<Result>): Promise<Result> {
  return work();
}
