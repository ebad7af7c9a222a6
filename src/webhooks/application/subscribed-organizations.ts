import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { SystemClock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { KNOWN_FOR_MS, LOOK_MS } from '../limits.js';
import { EndpointRepository } from '../persistence/endpoint.repository.js';

/**
 * The organizations that have endpoints, so that the ends of other organizations' runs, which are most, store no deliveries. What this
 * process knows is at most `KNOWN_FOR_MS` old, or counts as unknown; the creation of an endpoint takes as long, so every run that ends
 * afterwards has its deliveries.
 */
@Injectable()
export class SubscribedOrganizations implements OnApplicationBootstrap, OnModuleDestroy {
  /** Real time, because it bounds what other processes know. */
  private readonly clock = new SystemClock();
  private known: ReadonlySet<string> = new Set();
  private readonly added = new Map<string, number>();
  /** When the statement was sent that `known` is the result of; undefined until it has a result. */
  private knownAt: number | undefined;
  private isLooking = false;
  private stop: (() => void) | undefined;

  constructor(
    private readonly endpoints: EndpointRepository,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.look();
    // No other process writes to the embedded database.
    if (!this.settings.embedded) this.stop = this.clock.every(LOOK_MS, () => void this.look());
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  /** False only if no endpoint of the organization existed when a run that ends now ended. */
  mayWant(organizationId: string): boolean {
    return !this.isFresh() || this.known.has(organizationId) || this.added.has(organizationId);
  }

  /** Called after the commit that added an endpoint. Resolves once every process knows it, or counts all as unknown. */
  async add(organizationId: string): Promise<void> {
    this.added.set(organizationId, this.clock.monotonic());
    if (!this.settings.embedded) await this.clock.sleep(KNOWN_FOR_MS);
  }

  /** Runs that a killed process left are ended before the first look has its result. */
  private isFresh(): boolean {
    if (this.knownAt === undefined) return false;
    return this.settings.embedded || this.clock.monotonic() - this.knownAt <= KNOWN_FOR_MS;
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    const sentAt = this.clock.monotonic();
    try {
      this.known = new Set(await this.endpoints.organizations());
      this.knownAt = sentAt;
      for (const [organizationId, addedAt] of this.added) if (addedAt < sentAt) this.added.delete(organizationId);
    } catch (error) {
      this.logger.debug({ err: error }, 'The organizations with webhooks could not be read; all count as such');
    } finally {
      this.isLooking = false;
    }
  }
}
