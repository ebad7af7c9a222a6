import { Clock } from '../../platform/clock/index.js';
import { definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { FAILING_MS, SWITCH_OFF_EVERY_MINUTES } from '../limits.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';

/** Switches off endpoints that have failed for five days. A job, because nothing may be due at that moment. */
export const switchOffFailing = definePeriodicJob('webhooks.switch-off-failing', SWITCH_OFF_EVERY_MINUTES);

@Processor(switchOffFailing.name)
export class SwitchOffFailing extends WorkerHost {
  constructor(
    private readonly endpoints: EndpointRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  async process(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - FAILING_MS);
    for (const { id: webhookId, organizationId } of await this.endpoints.switchOffFailing(before))
      this.logger.info({ webhookId, organizationId }, 'A webhook was switched off: it has failed for five days');
  }
}
