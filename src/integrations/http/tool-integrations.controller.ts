import { Controller, Delete, Get, HttpCode, Post, Put, UseGuards } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import {
  ApiErrors,
  ApiExample,
  ApiUnionResponse,
  EXAMPLE_IDS,
  UnionBody,
  UuidParam,
} from '../../platform/http/index.js';
import { ChangeIntegration } from '../application/change-integration.js';
import { CreateIntegration } from '../application/create-integration.js';
import { ReadIntegrations } from '../application/read-integrations.js';
import { RemoveIntegration } from '../application/remove-integration.js';
import { TestIntegration } from '../application/test-integration.js';
import { MAX_INTEGRATIONS_PER_AGENT } from '../limits.js';
import { ChangeableIntegrationGuard } from './changeable-integration.guard.js';
import {
  CREATE_VARIANTS,
  type CreateToolIntegrationBody,
  toIntegrationRequest,
  UPDATE_VARIANTS,
  type UpdateToolIntegrationBody,
} from './tool-integration-request.dto.js';
import {
  OFFERED_TOOLS,
  RESPONSE_VARIANTS,
  ToolIntegrationListResponse,
  ToolIntegrationTestResponse,
  toolIntegrationResponse,
  type ToolIntegrationResponse,
} from './tool-integration-response.dto.js';
import { IntegrationExists, IntegrationIdentityMismatch } from '../domain/integrations.errors.js';

const AGENT = pathResource('agent', 'agentId');

/** For examples, without headers. */
const OWN_SERVER = {
  type: 'custom-mcp',
  app: 'shop',
  url: 'https://tools.example.com/mcp',
  transportType: 'streamableHttp',
  auth: { type: 'static', headerKey: 'X-Api-Key' },
};

@ApiTags('Tool integrations')
@Controller('v1/agents/:agentId/tool-integrations')
export class ToolIntegrationsController {
  constructor(
    private readonly createIntegration: CreateIntegration,
    private readonly changeIntegration: ChangeIntegration,
    private readonly removeIntegration: RemoveIntegration,
    private readonly readIntegrations: ReadIntegrations,
    private readonly testIntegration: TestIntegration,
  ) {}

  @Post()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    bodies: {
      'An app of the catalogue': { type: 'managed-mcp', app: 'memory' },
      'An app of the workflow platform': { type: 'workflow-platform', nameSlug: 'crm', authType: 'oauth' },
      'A server of your own': { ...OWN_SERVER, httpHeaders: { 'X-Api-Key': { type: 'secret', value: 'the-key' } } },
    },
  })
  @ApiOperation({
    operationId: 'createToolIntegration',
    summary: 'Add a tool integration to an agent',
    description:
      'Connects to the server and returns the result; an unreachable server does not fail the request. ' +
      'custom-mcp and workflow-platform integrations are those of the organization, one of each app or nameSlug: where ' +
      'there is one, it is added to this agent too, provided that the body agrees with it, secrets included; else, and ' +
      `where the agent has it already, the answer is 409 integration_exists. An agent has at most ${MAX_INTEGRATIONS_PER_AGENT} (422). ` +
      OFFERED_TOOLS,
  })
  @ApiUnionResponse(201, 'type', RESPONSE_VARIANTS)
  @ApiErrors(404, IntegrationExists.onAgent('shop'), 422)
  async create(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UnionBody('type', CREATE_VARIANTS) body: CreateToolIntegrationBody,
  ): Promise<ToolIntegrationResponse> {
    return toolIntegrationResponse(await this.createIntegration.execute(caller, agentId, toIntegrationRequest(body)));
  }

  @Get()
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({
    operationId: 'listToolIntegrations',
    summary: "List an agent's tool integrations",
    description: OFFERED_TOOLS,
  })
  @ApiOkResponse({ type: ToolIntegrationListResponse })
  @ApiErrors(404)
  async list(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<ToolIntegrationListResponse> {
    const all = await this.readIntegrations.list(organizationId, agentId);
    return { integrations: all.map(toolIntegrationResponse) };
  }

  @Get(':integrationId')
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({
    operationId: 'getToolIntegration',
    summary: 'Read a tool integration',
    description: 'One that the agent does not have answers 404.',
  })
  @ApiUnionResponse(200, 'type', RESPONSE_VARIANTS)
  @ApiErrors(404)
  async read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('integrationId') integrationId: string,
  ): Promise<ToolIntegrationResponse> {
    return toolIntegrationResponse(await this.readIntegrations.find(organizationId, agentId, integrationId));
  }

  @Put(':integrationId')
  @UseGuards(ChangeableIntegrationGuard)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    bodies: {
      'An app of the catalogue': { type: 'managed-mcp', app: 'everything', excludedTools: ['get-env'] },
      'A server of your own': { ...OWN_SERVER, httpHeaders: { 'X-Api-Key': { type: 'vault' } } },
    },
  })
  @ApiOperation({
    operationId: 'updateToolIntegration',
    summary: 'Replace a tool integration, for every agent that uses it',
    description:
      'The body replaces the integration, and the server is checked again. Stored secrets stay where the body says ' +
      'so, never for another origin. A body that changes nothing leaves updatedAt unchanged. The type and the app or nameSlug ' +
      'cannot be changed (400 integration_identity_mismatch). A key whose allowlist does not hold every agent that uses ' +
      'the integration cannot change it (403 forbidden_by_agent_allowlist).',
  })
  @ApiUnionResponse(200, 'type', RESPONSE_VARIANTS)
  @ApiErrors(new IntegrationIdentityMismatch('app', 'shop'), 404)
  async update(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('integrationId') integrationId: string,
    @UnionBody('type', UPDATE_VARIANTS) body: UpdateToolIntegrationBody,
  ): Promise<ToolIntegrationResponse> {
    return toolIntegrationResponse(
      await this.changeIntegration.execute(caller, agentId, integrationId, toIntegrationRequest(body)),
    );
  }

  @Delete(':integrationId')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.spareAgent, integrationId: EXAMPLE_IDS.deletedIntegration } })
  @ApiOperation({
    operationId: 'deleteToolIntegration',
    summary: 'Remove a tool integration from an agent',
    description: 'If no other agent uses it, the integration and its secrets are deleted.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async delete(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('integrationId') integrationId: string,
  ): Promise<void> {
    await this.removeIntegration.execute(organizationId, agentId, integrationId);
  }

  @Post(':integrationId/test')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiOperation({
    operationId: 'testToolIntegration',
    summary: 'Connect to the server of a tool integration again, and list its tools',
    description: 'Takes at most 10 seconds. A server that cannot be reached answers 200 with ok false.',
  })
  @ApiOkResponse({ type: ToolIntegrationTestResponse })
  @ApiErrors(404)
  async test(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('integrationId') integrationId: string,
  ): Promise<ToolIntegrationTestResponse> {
    return this.testIntegration.execute(organizationId, agentId, integrationId);
  }
}
