import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import type { OpenGateway, OrganizationGateway } from '../domain/gateway.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { gatewayTokenOf } from './gateway-secret.js';
import { OrganizationGateways } from './organization-gateways.js';

@Injectable()
export class SetOrganizationGateway {
  constructor(
    private readonly database: Database,
    private readonly gateways: GatewayRepository,
    private readonly directory: OrganizationGateways,
    private readonly vault: Vault,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Stores the gateway and its token in place of the ones before; runs that begin after it go through it.
   * @throws GatewayNotPermitted
   */
  async execute(
    organizationId: string,
    { edgeAccountId, gatewayName, token }: OpenGateway,
  ): Promise<OrganizationGateway> {
    await this.directory.requirePermitted(organizationId);
    const gateway = { edgeAccountId, gatewayName, updatedAt: this.clock.now() };
    await this.database.transaction(async (transaction) => {
      await this.gateways.put(transaction, organizationId, gateway);
      await this.vault.put(transaction, gatewayTokenOf(organizationId), token);
    });
    this.events.publish(new OrganizationGatewayChanged(organizationId));
    return gateway;
  }
}
