import { Clock } from '../../platform/clock/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { PURGE_EVERY_MINUTES, RETENTION_MS } from '../limits.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';

/** Deletes deliveries past their retention. */
export const purgeDeliveries = definePeriodicJob('webhooks.purge', PURGE_EVERY_MINUTES);

@Processor(purgeDeliveries.name)
export class PurgeDeliveries extends WorkerHost {
  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const before = new Date(this.clock.now().getTime() - RETENTION_MS);
    do signal.throwIfAborted();
    while ((await this.deliveries.purgeSome(before)) > 0);
  }
}
