import { Injectable } from '@nestjs/common';
import { Clock, Semaphore } from '../../platform/clock/index.js';
import { afterAttempt, isGone } from '../domain/delivery.js';
import { CONCURRENT, LOADED_FOR_MS, TURN_MS } from '../limits.js';
import { DeliveryRepository, type DueDelivery, type EndpointRef } from '../persistence/delivery.repository.js';
import { DeliveryResults } from './delivery-results.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import { type Addressee, SendEvent } from './send-event.js';
import { WebhookMetrics } from './webhook-metrics.js';

/** A process's time with an endpoint. */
export interface Turn {
  readonly endpoint: EndpointRef;
  readonly leaseId: string;
  /** Bounds the requests of the organization that are under way, and those of the process. */
  readonly organization: Semaphore;
  readonly process: Semaphore;
  /** Nothing more is sent: the process stops, or has lost the lease. */
  readonly isOver: () => boolean;
  /** Aborts the requests under way. */
  readonly signal: AbortSignal;
}

/** The requests of one read of due deliveries. */
interface Sending {
  readonly to: Addressee;
  readonly own: Semaphore;
  readonly isOutdated: () => boolean;
  /** The endpoint has said that it no longer exists. */
  isGone: boolean;
}

/** Sends an endpoint what is due, until nothing is or its turn is over. No connection to the database is held meanwhile. */
@Injectable()
export class ServeEndpoint {
  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly results: DeliveryResults,
    private readonly secrets: EndpointSecrets,
    private readonly send: SendEvent,
    private readonly metrics: WebhookMetrics,
    private readonly clock: Clock,
  ) {}

  /** @throws the first error; what it concerns is sent again */
  async execute(turn: Turn): Promise<void> {
    const endsAt = this.clock.monotonic() + TURN_MS;
    while (!turn.isOver() && this.clock.monotonic() < endsAt) {
      const due = await this.deliveries.loadDue(turn.endpoint.id, turn.leaseId, this.clock.now());
      if (!due) return;
      const outdatedAt = this.clock.monotonic() + LOADED_FOR_MS;
      const sending: Sending = {
        to: { url: due.url, signing: await this.secrets.read(turn.endpoint) },
        own: new Semaphore(due.isFailing ? CONCURRENT.perFailingEndpoint : CONCURRENT.perEndpoint),
        isOutdated: () => turn.isOver() || this.clock.monotonic() >= outdatedAt,
        isGone: false,
      };
      const ended = await Promise.allSettled(due.deliveries.map((delivery) => this.deliver(turn, sending, delivery)));
      const [failure] = ended.filter(({ status }) => status === 'rejected');
      if (failure?.status === 'rejected') throw failure.reason;
    }
  }

  /** What could not be begun in time is read again. */
  private async deliver(turn: Turn, sending: Sending, { event, tries }: DueDelivery): Promise<void> {
    const { organization, process } = turn;
    const sent = await sending.own.run(() =>
      organization.run(() =>
        process.run(async () => {
          if (sending.isGone || sending.isOutdated()) return null;
          const result = await this.send.execute(sending.to, event, turn.signal);
          if (isGone(result.attempt)) sending.isGone = true;
          return result;
        }),
      ),
    );
    if (!sent) return;
    const endedAt = this.clock.now();
    const after = afterAttempt(sent, tries + 1, endedAt);
    this.metrics.count(sent.attempt, after.status);
    const of = { endpointId: turn.endpoint.id, eventId: event.id, url: sending.to.url };
    // Outside of the semaphores: the next request does not wait until this result is stored.
    await this.results.add({ ...of, ...after, tries: tries + 1, attempt: sent.attempt, endedAt });
  }
}
