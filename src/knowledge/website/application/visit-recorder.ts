import type { Visit } from './visit-page.js';

interface Waiting {
  readonly visit: Visit;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Stores visits in groups: all that came in while the group before was being stored are the next one. */
export class VisitRecorder {
  private waiting: Waiting[] = [];
  private storing = false;

  constructor(private readonly store: (visits: readonly Visit[]) => Promise<void>) {}

  /** Resolves once the visit is stored. */
  record(visit: Visit): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ visit, resolve, reject });
      if (!this.storing) void this.storeAll();
    });
  }

  /** Never rejects: each visit's recorder is told. */
  private async storeAll(): Promise<void> {
    this.storing = true;
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      try {
        await this.store(group.map(({ visit }) => visit));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.storing = false;
  }
}
