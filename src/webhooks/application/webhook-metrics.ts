import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { type Counter, type Histogram, Metrics } from '../../platform/metrics/index.js';
import type { DeliveryAttempt, DeliveryStatus } from '../domain/delivery.js';
import { AGE_KEPT_MS } from '../limits.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';

/** How an attempt ended for its delivery. */
const OUTCOMES = { delivered: 'delivered', pending: 'retried', failed: 'failed' } as const satisfies Record<
  DeliveryStatus,
  string
>;
/** The upper end is the time that an endpoint has. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;
  private readonly seconds: Histogram<never>;
  private age: { readonly at: number; readonly seconds: Promise<number | undefined> } | undefined;

  constructor(
    metrics: Metrics,
    private readonly deliveries: DeliveryRepository,
    private readonly clock: Clock,
  ) {
    this.attempts = metrics.counter({
      name: 'agent_service_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook by what followed: delivered, retried later, failed for good.',
      labels: { outcome: Object.values(OUTCOMES) },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_webhook_attempt_seconds',
      help: 'Duration of attempts to deliver an event to a webhook.',
      labels: {},
      buckets: BUCKETS,
    });
    metrics.gauge(
      {
        name: 'agent_service_webhook_oldest_due_seconds',
        help: 'Time since the oldest delivery to a webhook became due; 0 for none.',
        labels: {},
      },
      () => this.oldestDue(),
    );
  }

  count({ latencyMs }: DeliveryAttempt, status: DeliveryStatus): void {
    this.attempts.inc({ outcome: OUTCOMES[status] });
    this.seconds.observe({}, latencyMs / 1_000);
  }

  /** @returns undefined if the database does not respond */
  private oldestDue(): Promise<number | undefined> {
    const at = this.clock.monotonic();
    if (!this.age || at - this.age.at >= AGE_KEPT_MS) {
      const seconds = this.deliveries.oldestDueSeconds(this.clock.now()).catch(() => undefined);
      this.age = { at, seconds };
    }
    return this.age.seconds;
  }
}
