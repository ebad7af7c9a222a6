import { Injectable } from '@nestjs/common';
import type { OrganizationGateway } from '../domain/gateway.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { OrganizationGateways } from './organization-gateways.js';

@Injectable()
export class ReadOrganizationGateway {
  constructor(
    private readonly gateways: GatewayRepository,
    private readonly directory: OrganizationGateways,
  ) {}

  /** @returns null if none is set @throws GatewayNotPermitted */
  async execute(organizationId: string): Promise<OrganizationGateway | null> {
    await this.directory.requirePermitted(organizationId);
    return this.gateways.find(organizationId);
  }
}
