import { Body, Controller, Delete, Get, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal, Resource } from '../../access/index.js';
import { PROVIDERS } from '../../models/index.js';
import {
  ApiCauses,
  ApiErrors,
  ApiExample,
  EXAMPLE_IDS,
  QueryStringField,
  QueryUuidListField,
  UuidParam,
} from '../../platform/http/index.js';
import { ChangeAgent } from '../application/change-agent.js';
import { CreateAgent } from '../application/create-agent.js';
import { DeleteAgent } from '../application/delete-agent.js';
import { ReadAgents, STORED_AGENT, type StoredAgent } from '../application/read-agents.js';
import type { WriteTarget } from '../application/versioned-write.js';
import type { Agent } from '../domain/agent.js';
import { changedByKey } from '../domain/agent-version.js';
import { ChangeAgentBody, CreateAgentBody, readAgentChange, readNewAgent } from './agent-request.dto.js';
import { AgentDeletedResponse, AgentListResponse, AgentResponse, AssistantListResponse } from './agent-response.dto.js';
import { AgentViews } from './agent-views.js';
import { AgentWriteTarget, ApiVersionHeader, etagOf } from './write-target.js';
import { UnsupportedForAgentType, VersionConflict } from '../domain/agents.errors.js';

const MAX_IDS = 100;
/** Causes of a `400` of both creating and changing an agent. */
const SETTINGS_REFUSED = ['knowledge_search_not_permitted', 'ai_gateway_unsupported_provider'];

const PROVIDER_REFUSED = PROVIDERS.flatMap(({ feature }) => (feature === undefined ? [] : `${feature}_not_permitted`));

class AgentsQuery {
  @QueryUuidListField({ max: MAX_IDS })
  readonly ids!: readonly string[];
}

class AssistantsQuery {
  @QueryStringField({ optional: true, description: 'A part of the name, in any case.' })
  readonly name?: string;
}

@ApiTags('Agents')
@Controller('v1/agents')
export class AgentsController {
  constructor(
    private readonly createAgent: CreateAgent,
    private readonly readAgents: ReadAgents,
    private readonly changeAgent: ChangeAgent,
    private readonly deleteAgent: DeleteAgent,
    private readonly views: AgentViews,
  ) {}

  @Post()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({
    body: {
      name: 'Bicycle shop',
      systemPrompt: 'You answer questions about our bicycles, briefly and kindly.',
      provider: { type: 'anthropic' },
      tools: { requireApprovalForResourceChanges: true },
      timeoutMinutes: 6,
      runLimits: { maxSteps: 50 },
    },
  })
  @ApiOperation({
    operationId: 'createAgent',
    summary: 'Create an agent',
    description: 'responseComponents is ignored here: a new agent has the frequency off.',
  })
  @ApiVersionHeader()
  @ApiCreatedResponse({ type: AgentResponse })
  @ApiCauses(400, 'agent_limit_reached', ...PROVIDER_REFUSED, ...SETTINGS_REFUSED)
  async create(
    @Caller() caller: ApiKeyPrincipal,
    @Body() body: CreateAgentBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentResponse> {
    const agent = await this.createAgent.execute(caller.organizationId, changedByKey(caller), readNewAgent(body));
    return this.answer(reply, agent);
  }

  @Get()
  @Access({ scope: 'none' })
  @ApiExample({ query: { ids: `${EXAMPLE_IDS.agent},${EXAMPLE_IDS.hookedAgent}` } })
  @ApiOperation({
    operationId: 'listAgents',
    summary: 'Read the agents with the given ids, in the order asked',
    description: 'Agents that the key cannot see are left out; an agent whose id is given twice is returned once.',
  })
  @ApiOkResponse({ type: AgentListResponse })
  async list(@Caller() caller: ApiKeyPrincipal, @Query() { ids }: AgentsQuery): Promise<AgentListResponse> {
    return { agents: await this.views.many(await this.readAgents.named(caller, ids)) };
  }

  @Get(':agentId')
  @Access({ scope: 'none', resource: pathResource(STORED_AGENT, 'agentId') })
  @ApiOperation({ operationId: 'getAgent', summary: 'Read an agent' })
  @ApiParam({ name: 'agentId', schema: { type: 'string', format: 'uuid' } })
  @ApiVersionHeader()
  @ApiOkResponse({ type: AgentResponse })
  @ApiErrors(404)
  async read(
    @Resource(STORED_AGENT) { agent }: StoredAgent,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentResponse> {
    return this.answer(reply, agent);
  }

  @Patch(':agentId')
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiExample({
    body: {
      systemPrompt: 'You answer briefly.',
      responseComponents: { frequency: 'medium', components: { list: true } },
    },
  })
  @ApiOperation({
    operationId: 'updateAgent',
    summary: 'Change an agent',
    description:
      'Only the fields that are sent change, all of them or none. A change that takes effect creates a new version. A request ' +
      'that changes nothing leaves version and updatedAt as they are.',
  })
  @ApiVersionHeader()
  @ApiOkResponse({ type: AgentResponse })
  @ApiErrors(
    404,
    new VersionConflict(4),
    new UnsupportedForAgentType('Agents of this type cannot emit the component list.'),
  )
  @ApiCauses(400, 'bad_request', 'provider_type_mismatch', 'system_prompt_too_long', ...SETTINGS_REFUSED)
  async change(
    @AgentWriteTarget() target: WriteTarget,
    @Body() body: ChangeAgentBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentResponse> {
    return this.answer(reply, await this.changeAgent.execute(target, readAgentChange(body)));
  }

  @Delete(':agentId')
  @Access({ scope: 'manageAgents', resource: pathResource('assistant', 'agentId') })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.deletedAgent } })
  @ApiOperation({
    operationId: 'deleteAgent',
    summary: 'Delete an agent and everything that belongs to it',
    description:
      'Also for classic agents. Cannot be undone. Runs under way are cancelled. Once the request is answered, no route returns anything of the agent; the service removes its ' +
      'conversations from the database in the background.',
  })
  @ApiOkResponse({ type: AgentDeletedResponse })
  @ApiErrors(404)
  async delete(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<AgentDeletedResponse> {
    await this.deleteAgent.execute(caller.organizationId, agentId);
    return { id: agentId, deleted: true };
  }

  private async answer(reply: FastifyReply, agent: Agent): Promise<AgentResponse> {
    void reply.header('etag', etagOf(agent.version));
    return this.views.one(agent);
  }
}

@ApiTags('Agents')
@Controller('v1/assistants')
export class AssistantsController {
  constructor(
    private readonly readAgents: ReadAgents,
    private readonly views: AgentViews,
  ) {}

  @Get()
  @Access({ scope: 'none' })
  @ApiOperation({
    operationId: 'listAssistants',
    summary: 'List every agent the key can see, of every type, by name',
    description: 'Each without its systemPrompt.',
  })
  @ApiOkResponse({ type: AssistantListResponse })
  async list(@Caller() caller: ApiKeyPrincipal, @Query() { name }: AssistantsQuery): Promise<AssistantListResponse> {
    return { assistants: await this.views.assistants(await this.readAgents.assistants(caller, name)) };
  }
}
