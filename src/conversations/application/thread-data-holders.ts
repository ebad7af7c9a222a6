import { Injectable } from '@nestjs/common';

/** A context with rows that belong to threads. */
export interface ThreadDataHolder {
  /**
   * Removes up to `limit` rows of deleted threads, in one short statement.
   * @returns how many rows; fewer than `limit` once there are no more
   */
  removeSome(threadIds: readonly string[], limit: number): Promise<number>;
}

/** The holders of all contexts; each registers itself in its constructor. */
@Injectable()
export class ThreadDataHolders {
  private readonly registered: ThreadDataHolder[] = [];

  get all(): readonly ThreadDataHolder[] {
    return this.registered;
  }

  register(holder: ThreadDataHolder): void {
    this.registered.push(holder);
  }
}
