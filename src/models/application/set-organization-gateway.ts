import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import type { GatewayWithToken, OrganizationGateway } from '../domain/gateway.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { OrganizationGateways } from './organization-gateways.js';

@Injectable()
export class SetOrganizationGateway {
  constructor(
    private readonly database: Database,
    private readonly gateways: GatewayRepository,
    private readonly directory: OrganizationGateways,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /** Runs that start afterwards use it. @throws GatewayNotPermitted */
  async execute(organizationId: string, settings: GatewayWithToken): Promise<OrganizationGateway> {
    await this.directory.requirePermitted(organizationId);
    const { token, ...address } = settings;
    const gateway = { ...address, updatedAt: this.clock.now() };
    await this.database.transaction((transaction) =>
      this.gateways.put(transaction, organizationId, { ...gateway, token }),
    );
    this.events.publish(new OrganizationGatewayChanged(organizationId));
    return gateway;
  }
}
