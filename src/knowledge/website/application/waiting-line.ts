interface Waiter<Grant> {
  readonly grant: (grant: Grant) => void;
  readonly fail: (error: Error) => void;
}

/** Those who wait for the same thing, in the order in which they came. */
export class WaitingLine<Grant> {
  private readonly waiters = new Set<Waiter<Grant>>();

  get length(): number {
    return this.waiters.size;
  }

  /** @throws the reason of `signal` when it aborts first; what `failAll` is given */
  wait(signal: AbortSignal): Promise<Grant> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const leave = (): void => {
        this.waiters.delete(waiter);
        signal.removeEventListener('abort', abort);
      };
      const waiter: Waiter<Grant> = {
        grant: (grant) => {
          leave();
          resolve(grant);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = (): void => waiter.fail(signal.reason as Error);
      this.waiters.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** @returns whether anybody was there to take it */
  grantFirst(grant: Grant): boolean {
    const [first] = this.waiters;
    first?.grant(grant);
    return first !== undefined;
  }

  failAll(error: unknown): void {
    for (const waiter of [...this.waiters]) waiter.fail(error as Error);
  }
}
