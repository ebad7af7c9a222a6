import { Controller, Get, HttpCode, Param, Post, Put, Body, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { KEPT_VERSIONS, VERSIONS_PAGE_BYTES } from '../application/limits.js';
import { RestoreVersion } from '../application/restore-version.js';
import { RotateProviderKey } from '../application/rotate-provider-key.js';
import type { WriteTarget } from '../application/versioned-write.js';
import { AgentOnManagedKey, VersionConflict, VersionNotRestorable } from '../domain/agents.errors.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentResponse } from './agent-response.dto.js';
import {
  AgentVersionListResponse,
  ProviderKeyBody,
  ProviderKeyResponse,
  VersionsQuery,
  versionView,
} from './agent-versions.dto.js';
import { AgentViews } from './agent-views.js';
import { AgentWriteTarget, ApiVersionHeader, etagOf } from './write-target.js';

@ApiTags('Agents')
@Controller('v1/agents/:agentId')
export class AgentVersionsController {
  constructor(
    private readonly agentVersions: AgentVersionsRepository,
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
      'Each change of the agent, its sections or its hooks that took effect is one version; the creation is version 1. ' +
      'A page with long changes has fewer versions than `limit`, but at least one while there are any. For older ones send the ' +
      `number of the last version of a page as \`before\`; an empty page is the end. The newest ${String(KEPT_VERSIONS)} versions are kept.`,
  })
  @ApiOkResponse({ type: AgentVersionListResponse })
  @ApiErrors(404)
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { before, limit }: VersionsQuery,
  ): Promise<AgentVersionListResponse> {
    const page = { before, limit, maxBytes: VERSIONS_PAGE_BYTES };
    const versions = await this.agentVersions.list(caller.organizationId, agentId, page);
    return { versions: versions.map(versionView) };
  }

  @Post('versions/:version/restore')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiOperation({
    operationId: 'restoreAgentVersion',
    summary: 'Make an agent, its sections and its hooks what they were at a version',
    description:
      'Restoring creates a new version, unless nothing differs. Secrets, the choice between managed and own key, what ' +
      'the operator has set and settings that the plan does not include stay as they are. The answer is 422 ' +
      '`version_not_restorable` when the model is no longer available to the agent, the gateway has no stored token, or the ' +
      'hooks name a header without a stored value or a tool integration that no longer exists.',
  })
  @ApiParam({ name: 'version', schema: { type: 'integer', minimum: 1 } })
  @ApiVersionHeader()
  @ApiOkResponse({ type: AgentResponse })
  @ApiErrors(
    404,
    new VersionConflict(4),
    new VersionNotRestorable('a tool integration that its hooks name no longer exists.'),
  )
  async restore(
    @AgentWriteTarget() target: WriteTarget,
    @Param('version') version: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentResponse> {
    const agent = await this.restoreVersion.execute(target, parseVersion(version));
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
      'Runs that begin after the answer use the new key, in other processes within 5 seconds. A different key creates a new ' +
      'version; the stored key sent again changes nothing. For an agent on the managed key the answer is 422 `agent_on_managed_key`: ' +
      'the choice between managed and own key is made when the agent is created.',
  })
  @ApiVersionHeader()
  @ApiOkResponse({ type: ProviderKeyResponse })
  @ApiErrors(404, new VersionConflict(4), new AgentOnManagedKey())
  async rotate(
    @AgentWriteTarget() target: WriteTarget,
    @Body() { apiKey }: ProviderKeyBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ProviderKeyResponse> {
    const agent = await this.rotateProviderKey.execute(target, apiKey);
    void reply.header('etag', etagOf(agent.version));
    return { useOwnApiKey: true, updatedAt: agent.updatedAt.toISOString() };
  }
}

/** @throws ValidationFailed */
function parseVersion(text: string): number {
  const version = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (version >= 1 && version <= 2_147_483_647) return version;
  throw new ValidationFailed('params/version must be a whole number from 1');
}
