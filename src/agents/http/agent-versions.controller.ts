import { Controller, Get, Headers, HttpCode, Param, Post, Put, Body, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { ListVersions } from '../application/list-versions.js';
import { RestoreVersion } from '../application/restore-version.js';
import { RotateProviderKey } from '../application/rotate-provider-key.js';
import { AgentResponse } from './agent-response.dto.js';
import {
  AgentVersionListResponse,
  ProviderKeyBody,
  ProviderKeyResponse,
  VersionsQuery,
  versionView,
} from './agent-versions.dto.js';
import type { AgentView } from './agent-view.js';
import { AgentViews } from './agent-views.js';
import { etagOf } from './if-match.js';
import { ApiVersionHeader } from './version-header.js';
import { ApiIfMatchHeader, writeTargetOf } from './write-target.js';
import { AgentOnManagedKey, VersionConflict, VersionNotRestorable } from '../domain/agents.errors.js';

@ApiTags('Agents')
@Controller('v1/agents/:agentId')
export class AgentVersionsController {
  constructor(
    private readonly listVersions: ListVersions,
    private readonly restoreVersion: RestoreVersion,
    private readonly rotateProviderKey: RotateProviderKey,
    private readonly views: AgentViews,
  ) {}

  @Get('versions')
  @Access({ scope: 'none', resource: pathResource('agent', 'agentId') })
  @ApiOperation({
    operationId: 'listAgentVersions',
    summary: 'Read what changed in an agent, when and by whom, newest first',
    description:
      'Every change of the agent, its sections or its hooks that took effect is one version, and its creation is version 1. ' +
      'Long changes make a page hold fewer versions than `limit`, never none: there are older ones as long as the ' +
      'last one is not version 1, and `before` reads on from there. Versions are kept as long as the agent.',
  })
  @ApiOkResponse({ type: AgentVersionListResponse })
  @ApiErrors(400, 401, 403, 404)
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { before, limit }: VersionsQuery,
  ): Promise<AgentVersionListResponse> {
    const versions = await this.listVersions.execute(caller.organizationId, agentId, { before, most: limit });
    return { versions: versions.map(versionView) };
  }

  @Post('versions/:version/restore')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiOperation({
    operationId: 'restoreAgentVersion',
    summary: 'Make an agent, its sections and its hooks what they were at a version',
    description:
      'That is a new version; where all is so already, nothing happens. Secrets, whose key the agent runs on, what ' +
      'the operator has set and settings that the plan does not include stay as they are. A ' +
      'version whose model the agent can no longer have, whose gateway has no stored token, or whose hooks name a header ' +
      'without a stored value or a tool integration that is gone, answers 422 `version_not_restorable`.',
  })
  @ApiParam({ name: 'version', schema: { type: 'integer', minimum: 1 } })
  @ApiIfMatchHeader()
  @ApiVersionHeader()
  @ApiOkResponse({ type: AgentResponse })
  @ApiErrors(
    400,
    401,
    403,
    404,
    new VersionConflict(4),
    new VersionNotRestorable('a tool integration that its hooks name is gone.'),
  )
  async restore(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Param('version') version: string,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentView> {
    const agent = await this.restoreVersion.execute(writeTargetOf(caller, agentId, ifMatch), versionOf(version));
    void reply.header('etag', etagOf(agent.version));
    return this.views.one(agent);
  }

  @Put('provider-key')
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.hookedAgent }, body: { apiKey: 'the-new-key' } })
  @ApiOperation({
    operationId: 'rotateProviderKey',
    summary: 'Replace the API key of an agent that runs on its own',
    description:
      'Runs that begin after the answer use it, on other processes within 5 seconds. Another key is a new version; ' +
      'the one it has already is no change. An agent on the managed key answers 422 `agent_on_managed_key`: whose key ' +
      'an agent runs on is chosen when it is made.',
  })
  @ApiIfMatchHeader()
  @ApiVersionHeader()
  @ApiOkResponse({ type: ProviderKeyResponse })
  @ApiErrors(400, 401, 403, 404, new VersionConflict(4), new AgentOnManagedKey())
  async rotate(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { apiKey }: ProviderKeyBody,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProviderKeyResponse> {
    const agent = await this.rotateProviderKey.execute(writeTargetOf(caller, agentId, ifMatch), apiKey);
    void reply.header('etag', etagOf(agent.version));
    return { useOwnApiKey: true, updatedAt: agent.updatedAt.toISOString() };
  }
}

/** @throws ValidationFailed */
function versionOf(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (version >= 1 && version <= 2_147_483_647) return version;
  throw new ValidationFailed('params/version must be a whole number from 1');
}
