import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import { FOLDER_LEFT_MS, FOLDERS_BATCH, FOLDERS_EVERY_MS, REMOVED_EVERY_MS } from '../limits.js';
import { LocalServers } from '../local/local-servers.js';
import { ConnectionPool } from '../mcp/connection-pool.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

/**
 * Closes the connection of a removed integration, stops its local server and removes the server's folder. Events reach only the
 * process that removed the integration, so every process also looks for removed ones: often those of its connections, rarely those
 * of the folders on its disk, which may also be left by a process that was killed.
 */
@Injectable()
export class EndServersOfRemovedIntegrations implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stopTimers: readonly (() => void)[] = [];
  private removingFolders: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly pool: ConnectionPool,
    private readonly servers: LocalServers,
    private readonly clock: Clock,
    private readonly logger: Logger,
    events: EventBus,
  ) {
    events.subscribe(IntegrationChanged, ({ integrationId }) => void this.logged(this.endRemoved([integrationId])));
  }

  onApplicationBootstrap(): void {
    this.stopTimers = [
      this.clock.every(REMOVED_EVERY_MS, () => void this.logged(this.endRemoved(this.pool.integrationIds))),
      this.clock.every(FOLDERS_EVERY_MS, () => this.removeFolders()),
    ];
    this.removeFolders();
  }

  /** Before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    for (const stop of this.stopTimers) stop();
    await this.removingFolders;
  }

  private removeFolders(): void {
    this.removingFolders ??= this.logged(this.endFoldersOfRemoved()).finally(() => {
      this.removingFolders = undefined;
    });
  }

  private async endFoldersOfRemoved(): Promise<void> {
    let batch: string[] = [];
    for await (const id of this.servers.foldersUnchangedFor(FOLDER_LEFT_MS)) {
      if (this.isStopping) return;
      batch.push(id);
      if (batch.length < FOLDERS_BATCH) continue;
      await this.endRemoved(batch);
      batch = [];
    }
    await this.endRemoved(batch);
  }

  private async endRemoved(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of await this.integrations.findRemoved(ids)) {
      if (this.isStopping) return;
      this.pool.drop(id);
      await this.servers.forget(id);
    }
  }

  /** The next timer or start repeats failed work. */
  private logged(work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => {
      this.logger.warn({ err: error }, 'The servers of removed integrations could not be stopped');
    });
  }
}
