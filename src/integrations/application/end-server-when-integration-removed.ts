import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import { REMOVED_EVERY_MS } from '../limits.js';
import { LocalServers } from '../local/local-servers.js';
import { ConnectionPool } from '../mcp/connection-pool.js';
import { LeftBehindIntegrations } from '../persistence/left-behind-integrations.repository.js';

/** Closes the connection of a removed integration, stops its local server and removes the server's folder. */
@Injectable()
export class EndServerWhenIntegrationRemoved implements OnApplicationBootstrap, OnApplicationShutdown {
  private stopLooking: () => void = () => undefined;

  constructor(
    private readonly removed: LeftBehindIntegrations,
    private readonly pool: ConnectionPool,
    private readonly servers: LocalServers,
    private readonly clock: Clock,
    private readonly logger: Logger,
    events: EventBus,
  ) {
    events.subscribe(IntegrationChanged, ({ integrationId }) => this.stopRemoved([integrationId]));
  }

  /** Events reach only the process that removed the integration, so each process also looks for removed ones. */
  onApplicationBootstrap(): void {
    this.stopLooking = this.clock.every(REMOVED_EVERY_MS, () => this.stopRemoved(this.pool.integrationIds));
  }

  onApplicationShutdown(): void {
    this.stopLooking();
  }

  private stopRemoved(integrationIds: readonly string[]): void {
    if (integrationIds.length === 0) return;
    this.stop(integrationIds).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'The servers of removed integrations could not be stopped');
    });
  }

  private async stop(integrationIds: readonly string[]): Promise<void> {
    for (const id of await this.removed.findRemoved(integrationIds)) {
      this.pool.drop(id);
      await this.servers.forget(id);
    }
  }
}
