import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, Semaphore } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { newId } from '../../platform/ids/index.js';
import { endsWithin, type ShutdownParticipant, ShutdownState } from '../../platform/lifecycle/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ATTEMPT_MS, CONCURRENT, POLL_MS, RENEW_MS, SERVED_ENDPOINTS } from '../limits.js';
import { DeliveryRepository, type EndpointRef } from '../persistence/delivery.repository.js';
import { ServeEndpoint } from './serve-endpoint.js';

interface Served {
  readonly endpoint: EndpointRef;
  isLost: boolean;
}

/**
 * Looks for endpoints with due deliveries and serves each of them, in the processes that work on jobs. A lease keeps two processes from
 * serving one endpoint; what a process that dies had under way is sent again when its leases end. Not jobs of the queue: each of them
 * takes several statements, and slow endpoints would occupy the queue's workers (decision 57).
 */
@Injectable()
export class DeliverWebhooks implements OnApplicationBootstrap, BeforeApplicationShutdown, ShutdownParticipant {
  readonly name = 'webhooks';
  private readonly leaseId = newId();
  private readonly served = new Map<string, Served>();
  private readonly organizations = new Map<string, Semaphore>();
  private readonly process = new Semaphore(CONCURRENT.perProcess);
  private readonly stopping = new AbortController();
  private readonly active = new Set<Promise<void>>();
  private timers: readonly (() => void)[] = [];
  private isStopping = false;
  private isPolling = false;

  constructor(
    private readonly deliveries: DeliveryRepository,
    private readonly serveEndpoint: ServeEndpoint,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly shutdown: ShutdownState,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.role === 'api') return;
    this.shutdown.register(this);
    const track = (work: () => Promise<void>) => () => this.track(work());
    this.timers = [
      this.clock.every(
        POLL_MS,
        track(() => this.poll()),
      ),
      this.clock.every(
        RENEW_MS,
        track(() => this.renew()),
      ),
    ];
  }

  /** Begins nothing more; resolves when no request is under way. */
  async idle(): Promise<void> {
    this.isStopping = true;
    while (this.active.size > 0) await Promise.all(this.active);
  }

  /** Aborts the requests under way. Those attempts are not stored, so another process repeats them. */
  abort(): Promise<void> {
    this.stopping.abort(new Error('The process stops'));
    return Promise.resolve();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.abort();
    // With a limit, because the database may be unreachable.
    await endsWithin(ATTEMPT_MS, this.clock, this.idle());
    for (const stop of this.timers) stop();
  }

  private track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        if (this.isStopping) return;
        this.logger.warn({ err: error }, 'Webhooks could not be delivered; the next poll tries again');
      })
      .finally(() => this.active.delete(tracked));
    this.active.add(tracked);
  }

  private async poll(): Promise<void> {
    const free = SERVED_ENDPOINTS - this.served.size;
    if (this.isStopping || this.isPolling || free === 0) return;
    this.isPolling = true;
    try {
      const leased = await this.deliveries.leaseDue(this.leaseId, this.clock.now(), free);
      for (const endpoint of leased) this.track(this.serve(endpoint));
    } finally {
      this.isPolling = false;
    }
  }

  private async serve(endpoint: EndpointRef): Promise<void> {
    const served: Served = { endpoint, isLost: false };
    this.served.set(endpoint.id, served);
    try {
      await this.serveEndpoint.execute({
        ...{ endpoint, leaseId: this.leaseId, signal: this.stopping.signal },
        ...{ organization: this.semaphoreOf(endpoint.organizationId), process: this.process },
        isOver: () => this.isStopping || served.isLost,
      });
    } finally {
      this.served.delete(endpoint.id);
      this.forgetOrganization(endpoint.organizationId);
      if (!served.isLost) await this.deliveries.endLease(this.leaseId, endpoint.id);
    }
  }

  private async renew(): Promise<void> {
    const before = [...this.served.values()];
    if (before.length === 0) return;
    const kept = await this.deliveries.renewLeases(
      this.leaseId,
      before.map(({ endpoint }) => endpoint.id),
    );
    for (const served of before) if (!kept.has(served.endpoint.id)) served.isLost = true;
  }

  private semaphoreOf(organizationId: string): Semaphore {
    const known = this.organizations.get(organizationId) ?? new Semaphore(CONCURRENT.perOrganization);
    this.organizations.set(organizationId, known);
    return known;
  }

  private forgetOrganization(organizationId: string): void {
    const isServed = [...this.served.values()].some(({ endpoint }) => endpoint.organizationId === organizationId);
    if (!isServed) this.organizations.delete(organizationId);
  }
}
