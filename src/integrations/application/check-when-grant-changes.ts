import { Injectable } from '@nestjs/common';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { OAuthGrantChanged } from '../oauth/oauth.events.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { RefreshToolLists } from './refresh-tool-lists.js';

/** Checks an integration's server after a sign-in and after the loss of a grant, so that its stored state is current. */
@Injectable()
export class CheckWhenGrantChanges {
  /** The latest check of each integration that is still running. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly lists: RefreshToolLists,
    private readonly logger: Logger,
    events: EventBus,
  ) {
    events.subscribe(OAuthGrantChanged, ({ organizationId, integrationId }) =>
      this.start(organizationId, integrationId),
    );
  }

  /** Resolves when the check after the latest change is done. Never rejects. */
  async settled(integrationId: string): Promise<void> {
    await this.running.get(integrationId);
  }

  private start(organizationId: string, integrationId: string): void {
    const check = this.check(organizationId, integrationId)
      .catch((error: unknown) => {
        this.logger.warn(
          { err: error, integrationId },
          'The check of a tool server after a change of its grant failed',
        );
      })
      .finally(() => {
        if (this.running.get(integrationId) === check) this.running.delete(integrationId);
      });
    this.running.set(integrationId, check);
  }

  private async check(organizationId: string, integrationId: string): Promise<void> {
    const integration = await this.integrations.find(organizationId, integrationId);
    if (integration) await this.lists.checkAgain(integration);
  }
}
