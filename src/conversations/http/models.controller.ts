import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { AgentDirectory, AgentNotFound, type VisibleAgent } from '../../agents/index.js';
import { ApiErrors, UuidParam } from '../../platform/http/index.js';
import { ModelListResponse, ModelResponse } from './models.dto.js';

/** Agents as models of the OpenAI API. */
@ApiTags('Chat')
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly agents: AgentDirectory) {}

  @Get()
  @Access({ scope: 'none' })
  @ApiOperation({
    operationId: 'listModels',
    summary: 'List the agents the key can see, as models of the OpenAI API',
    description: 'By name. The `id` of each is the `model` of a chat completion.',
  })
  @ApiOkResponse({ type: ModelListResponse })
  async list(@Caller() { organizationId, agentIds }: ApiKeyPrincipal): Promise<ModelListResponse> {
    const agents = await this.agents.visibleAgents(organizationId, agentIds);
    return { object: 'list', data: agents.map(modelView) };
  }

  @Get(':model')
  @Access({ scope: 'none', resource: pathResource('assistant', 'model') })
  @ApiOperation({ operationId: 'getModel', summary: 'Read one agent as a model of the OpenAI API' })
  @ApiOkResponse({ type: ModelResponse })
  @ApiErrors(404)
  async read(@Caller() { organizationId }: ApiKeyPrincipal, @UuidParam('model') id: string): Promise<ModelResponse> {
    const [agent] = await this.agents.visibleAgents(organizationId, new Set([id]));
    if (!agent) throw new AgentNotFound();
    return modelView(agent);
  }
}

function modelView({ id, createdAt }: VisibleAgent): ModelResponse {
  return { id, object: 'model', created: Math.floor(createdAt.getTime() / 1_000), owned_by: 'organization' };
}
