import { Body, Controller, Delete, Get, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiErrors, ApiExample } from '../../platform/http/index.js';
import { OrganizationGateways } from '../application/organization-gateways.js';
import { RemoveOrganizationGateway } from '../application/remove-organization-gateway.js';
import { SetOrganizationGateway } from '../application/set-organization-gateway.js';
import { ROUTED_TYPES } from '../providers/gateway-routes.js';
import { MODEL_PROVIDERS } from '../providers/index.js';
import { GatewayDeletedResponse, GatewayResponse, gatewayView, SetGatewayBody } from './gateway.dto.js';
import { GatewayNotPermitted } from '../domain/gateway.errors.js';

const PATHS = MODEL_PROVIDERS.flatMap(({ gatewayPath }) => gatewayPath ?? []);

const EFFECT =
  `While it is set and the plan includes the gateway, the model traffic of every ${ROUTED_TYPES.join(' and ')} ` +
  `agent that does not override it goes to \`{gateway base}/{edgeAccountId}/{gatewayName}/{${PATHS.join(' or ')}}\`, ` +
  'with the token in a header and the same provider key as without a gateway. Base and header are settings of the ' +
  'service (GATEWAY_BASE_URL, GATEWAY_TOKEN_HEADER).';

@ApiTags('Organization gateway')
@Controller('v1/ai-gateway')
export class GatewayController {
  constructor(
    private readonly gateways: OrganizationGateways,
    private readonly setGateway: SetOrganizationGateway,
    private readonly removeGateway: RemoveOrganizationGateway,
  ) {}

  @Get()
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({ operationId: 'getGateway', summary: "Read the organization's routing gateway" })
  @ApiOkResponse({ type: GatewayResponse })
  @ApiNoContentResponse({ description: 'No gateway is set.' })
  async read(
    @Caller() caller: ApiKeyPrincipal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<GatewayResponse | undefined> {
    const gateway = await this.gateways.read(caller.organizationId);
    if (gateway) return gatewayView(gateway);
    void reply.code(204);
    return undefined;
  }

  @Put()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ body: { enabled: true, edgeAccountId: 'account-1', gatewayName: 'agents', edgeApiToken: 'the-token' } })
  @ApiOperation({
    operationId: 'setGateway',
    summary: "Set the organization's routing gateway",
    description: `${EFFECT} Takes effect at once in the process that answers, and within 5 seconds in the others.`,
  })
  @ApiOkResponse({ type: GatewayResponse })
  @ApiErrors(new GatewayNotPermitted())
  async set(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Body() { edgeAccountId, gatewayName, edgeApiToken: token }: SetGatewayBody,
  ): Promise<GatewayResponse> {
    return gatewayView(await this.setGateway.execute(organizationId, { edgeAccountId, gatewayName, token }));
  }

  @Delete()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiOperation({
    operationId: 'deleteGateway',
    summary: "Remove the organization's routing gateway",
    description: 'Possible even if the plan no longer includes a gateway.',
  })
  @ApiOkResponse({ type: GatewayDeletedResponse })
  @ApiErrors(404)
  async remove(@Caller() caller: ApiKeyPrincipal): Promise<GatewayDeletedResponse> {
    await this.removeGateway.execute(caller.organizationId);
    return { deleted: true };
  }
}
