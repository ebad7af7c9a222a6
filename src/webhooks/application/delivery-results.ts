import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { STORE_AFTER_MS, STORE_BATCH } from '../limits.js';
import { DeliveryRepository, type StoredResult } from '../persistence/delivery.repository.js';

interface Batch {
  readonly results: StoredResult[];
  readonly stored: Promise<undefined>;
  readonly store: () => void;
}

/** Stores the results of attempts at all endpoints that this process serves, many with one statement. */
@Injectable()
export class DeliveryResults {
  private batch: Batch | undefined;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly clock: Clock,
  ) {}

  /** Resolves once the result is stored; rejects if it could not be, and then the attempt is repeated. */
  add(result: StoredResult): Promise<void> {
    const batch = (this.batch ??= this.begin());
    batch.results.push(result);
    if (batch.results.length >= STORE_BATCH) batch.store();
    return batch.stored;
  }

  private begin(): Batch {
    const results: StoredResult[] = [];
    const { promise: stored, resolve } = Promise.withResolvers<undefined>();
    const store = (): void => {
      cancel();
      if (this.batch?.results === results) this.batch = undefined;
      resolve(this.deliveries.storeResults(results).then(() => undefined));
    };
    const cancel = this.clock.after(STORE_AFTER_MS, store);
    return { results, stored, store };
  }
}
