import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { GatewayNotSet } from '../domain/gateway.errors.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';

@Injectable()
export class RemoveOrganizationGateway {
  constructor(
    private readonly database: Database,
    private readonly gateways: GatewayRepository,
    private readonly events: EventBus,
  ) {}

  /** Possible even if the plan no longer includes a gateway. @throws GatewayNotSet */
  async execute(organizationId: string): Promise<void> {
    const wasSet = await this.database.transaction((transaction) => this.gateways.remove(transaction, organizationId));
    if (!wasSet) throw new GatewayNotSet();
    this.events.publish(new OrganizationGatewayChanged(organizationId));
  }
}
