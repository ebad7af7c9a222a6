import { z } from 'zod';
import { defineJob, type JobOf, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';

/** Deletes the deliveries of an endpoint that was deleted. */
export const removeDeliveries = defineJob({
  name: 'webhooks.remove-deliveries',
  payload: z.object({ endpointId: z.uuid() }),
});

@Processor(removeDeliveries.name)
export class RemoveDeliveries extends WorkerHost {
  constructor(private readonly deliveries: DeliveryRepository) {
    super();
  }

  async process({ data, signal }: JobOf<typeof removeDeliveries>): Promise<void> {
    do signal.throwIfAborted();
    while ((await this.deliveries.removeSome(data.endpointId)) > 0);
  }
}
