import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiErrors, QueryStringField } from '../../platform/http/index.js';
import { ReadAgents } from '../application/read-agents.js';
import { AssistantListResponse } from './agent-response.dto.js';
import { AgentViews } from './agent-views.js';

class AssistantsQuery {
  @QueryStringField({ optional: true, description: 'A part of the name, in any case.' })
  readonly name?: string;
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
  @ApiErrors(400, 401)
  async list(@Caller() caller: ApiKeyPrincipal, @Query() { name }: AssistantsQuery): Promise<AssistantListResponse> {
    return { assistants: await this.views.assistants(await this.readAgents.assistants(caller, name)) };
  }
}
