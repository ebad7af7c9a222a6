import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { OrganizationGateways } from './application/organization-gateways.js';
import { RemoveOrganizationGateway } from './application/remove-organization-gateway.js';
import { SetOrganizationGateway } from './application/set-organization-gateway.js';
import { GatewayController } from './http/gateway.controller.js';
import { GatewayRepository } from './persistence/gateway.repository.js';

/** The gateways of organizations. Separate from `ModelsModule`, which needs neither organizations nor a database. */
@Module({
  imports: [AccessModule],
  controllers: [GatewayController],
  providers: [GatewayRepository, OrganizationGateways, RemoveOrganizationGateway, SetOrganizationGateway],
  exports: [OrganizationGateways],
})
export class GatewaysModule {}
