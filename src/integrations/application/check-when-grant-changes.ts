import { Injectable } from '@nestjs/common';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { OAuthGrantChanged } from '../oauth/oauth.events.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { KeepToolLists } from './keep-tool-lists.js';

/** Whoever reads an integration after a sign-in, or after a grant is gone, finds it as it is then. */
@Injectable()
export class CheckWhenGrantChanges {
  /** The last check of each integration, while it is under way. */
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly lists: KeepToolLists,
    private readonly logger: Logger,
    events: EventBus,
  ) {
    events.subscribe(OAuthGrantChanged, ({ organizationId, integrationId }) =>
      this.begin(organizationId, integrationId),
    );
  }

  /** Resolves when the change that was told of last has been checked. Never rejects. */
  async settled(integrationId: string): Promise<void> {
    await this.underWay.get(integrationId);
  }

  private begin(organizationId: string, integrationId: string): void {
    const check = this.check(organizationId, integrationId)
      .catch((error: unknown) => {
        this.logger.warn({ err: error, integrationId }, 'Asking a tool server after a change of its grant failed');
      })
      .finally(() => {
        if (this.underWay.get(integrationId) === check) this.underWay.delete(integrationId);
      });
    this.underWay.set(integrationId, check);
  }

  private async check(organizationId: string, integrationId: string): Promise<void> {
    const integration = await this.integrations.find(organizationId, integrationId);
    if (integration) await this.lists.checkAgain(integration);
  }
}
