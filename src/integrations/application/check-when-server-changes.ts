import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { CallFailed, OAuthGrantChanged, ToolsChanged } from '../domain/integrations.events.js';
import { CHANGED_LIST_MS } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { RefreshToolLists } from './refresh-tool-lists.js';
import { ServerConnections } from './server-connections.js';

/** Checks a server after a sign-in or the loss of a grant, and when its tools may have changed. */
@Injectable()
export class CheckWhenServerChanges implements OnApplicationShutdown {
  /** By id: integrations that were checked recently, and the event that requires another check after the wait. */
  private readonly recent = new Map<string, { next: CallFailed | ToolsChanged | null; readonly cancel: () => void }>();
  /** By id: the latest check after a change of a grant that is still running. */
  private readonly grantChecks = new Map<string, Promise<void>>();

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly lists: RefreshToolLists,
    private readonly connections: ServerConnections,
    private readonly clock: Clock,
    private readonly logger: Logger,
    events: EventBus,
  ) {
    events.subscribe(ToolsChanged, (event) => this.checkSeldom(event));
    events.subscribe(CallFailed, (event) => this.checkSeldom(event));
    events.subscribe(OAuthGrantChanged, (event) => this.checkAfterGrantChange(event));
  }

  onApplicationShutdown(): void {
    for (const { cancel } of this.recent.values()) cancel();
    this.recent.clear();
  }

  /** Resolves when the check after the latest change of the grant is done. Never rejects. */
  async grantChecked(integrationId: string): Promise<void> {
    await this.grantChecks.get(integrationId);
  }

  /** At most once per `CHANGED_LIST_MS`. */
  private checkSeldom(event: CallFailed | ToolsChanged): void {
    const { integration } = event;
    const recent = this.recent.get(integration.id);
    if (recent) {
      if (!(recent.next instanceof CallFailed)) recent.next = event;
      return;
    }
    // A server's notification must not open a connection that no call uses. The next run checks the server.
    if (event instanceof ToolsChanged && !this.connections.areOpenFor(integration)) return;
    void this.lists.check(integration);
    const cancel = this.clock.after(CHANGED_LIST_MS, () => {
      const next = this.recent.get(integration.id)?.next;
      this.recent.delete(integration.id);
      if (next) this.checkSeldom(next);
    });
    this.recent.set(integration.id, { next: null, cancel });
  }

  private checkAfterGrantChange({ organizationId, integrationId }: OAuthGrantChanged): void {
    const check = this.checkAgain(organizationId, integrationId)
      .catch((error: unknown) => {
        this.logger.warn(
          { err: error, integrationId },
          'The check of a tool server after a change of its grant failed',
        );
      })
      .finally(() => {
        if (this.grantChecks.get(integrationId) === check) this.grantChecks.delete(integrationId);
      });
    this.grantChecks.set(integrationId, check);
  }

  private async checkAgain(organizationId: string, integrationId: string): Promise<void> {
    const integration = await this.integrations.find(organizationId, integrationId);
    if (integration) await this.lists.checkAgain(integration);
  }
}
