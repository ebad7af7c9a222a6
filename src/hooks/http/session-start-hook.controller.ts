import { Body, Controller, Delete, Get, Headers, HttpCode, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiIfMatchHeader, ApiVersionHeader, etagOf, writeTargetOf } from '../../agents/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { ChangeSessionStartHook } from '../application/change-session-start-hook.js';
import { ReadHooks } from '../application/read-hooks.js';
import { SessionStartHookSettings, toSessionStartHook } from './hooks.dto.js';

const AGENT = pathResource('agent', 'agentId');

@ApiTags('Hooks')
@Controller('v1/agents/:agentId/session-start-hook')
export class SessionStartHookController {
  constructor(
    private readonly readHooks: ReadHooks,
    private readonly changeHook: ChangeSessionStartHook,
  ) {}

  @Get()
  @Access({ scope: 'none', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.hookedAgent } })
  @ApiOperation({
    operationId: 'getSessionStartHook',
    summary: "Read an agent's session-start hook",
    description: 'Answers 404 when the agent has none.',
  })
  @ApiOkResponse({ type: SessionStartHookSettings })
  @ApiErrors(400, 401, 403, 404)
  read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<SessionStartHookSettings> {
    return this.readHooks.sessionStart({ organizationId, agentId });
  }

  @Put()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    path: { agentId: EXAMPLE_IDS.hookedAgent },
    body: { app: 'shop', toolName: 'customer', timeoutMs: 1_000, staticArgs: { region: 'eu' } },
  })
  @ApiOperation({
    operationId: 'replaceSessionStartHook',
    summary: 'Set the tool that is called once at the start of each thread',
    description:
      'The agent must have a custom-mcp integration with this `app`. The tool returns JSON text `{contexts: [{name, context}]}`, which becomes a part of the prompt for the thread; any other text is one ' +
      'context named after the tool, and an empty text is none. When the tool fails, times out or returns malformed contexts, the thread continues without contexts ' +
      '(`degraded`). Traces show the outcome in `sessionStartHook`. When the organization lacks the feature `session_start_hook`, the hook is stored and not called.',
  })
  @ApiIfMatchHeader()
  @ApiVersionHeader()
  @ApiOkResponse({ type: SessionStartHookSettings })
  @ApiErrors(400, 401, 403, 404, 409)
  async replace(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() body: SessionStartHookSettings,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionStartHookSettings> {
    const { result, version } = await this.changeHook.execute(
      writeTargetOf(caller, agentId, ifMatch),
      toSessionStartHook(body),
    );
    void reply.header('etag', etagOf(version));
    return result;
  }

  @Delete()
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.spareAgent } })
  @ApiOperation({
    operationId: 'deleteSessionStartHook',
    summary: "Remove an agent's session-start hook",
    description: 'Threads that have started keep their contexts.',
  })
  @ApiIfMatchHeader()
  @ApiNoContentResponse()
  @ApiErrors(400, 401, 403, 404, 409)
  async delete(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.changeHook.execute(writeTargetOf(caller, agentId, ifMatch), null);
  }
}
