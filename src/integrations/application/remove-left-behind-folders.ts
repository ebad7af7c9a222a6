import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { FOLDER_LEFT_MS, FOLDERS_BATCH, FOLDERS_EVERY_MS } from '../limits.js';
import { LocalServers } from '../local/local-servers.js';
import { LeftBehindIntegrations } from '../persistence/left-behind-integrations.repository.js';

/**
 * Removes the folders of local servers whose integration another process removed, or this process removed before it was killed.
 */
@Injectable()
export class RemoveLeftBehindFolders implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stopLooking: () => void = () => undefined;
  private looking: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly removed: LeftBehindIntegrations,
    private readonly servers: LocalServers,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.stopLooking = this.clock.every(FOLDERS_EVERY_MS, () => this.look());
    this.look();
  }

  /** Before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    this.stopLooking();
    await this.looking;
  }

  private look(): void {
    this.looking ??= this.removeAll()
      .catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The folders of removed integrations could not be removed');
      })
      .finally(() => {
        this.looking = undefined;
      });
  }

  private async removeAll(): Promise<void> {
    let batch: string[] = [];
    for await (const id of this.servers.keptFor(FOLDER_LEFT_MS)) {
      if (this.isStopping) return;
      batch.push(id);
      if (batch.length < FOLDERS_BATCH) continue;
      await this.removeAbsent(batch);
      batch = [];
    }
    await this.removeAbsent(batch);
  }

  private async removeAbsent(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of await this.removed.findRemoved(ids)) {
      if (this.isStopping) return;
      await this.servers.forget(id);
    }
  }
}
