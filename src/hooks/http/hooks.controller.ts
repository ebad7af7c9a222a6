import { Body, Controller, Delete, Get, Headers, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiIfMatchHeader, ApiVersionHeader, etagOf, writeTargetOf } from '../../agents/index.js';
import { ApiErrors, ApiExample, disconnectSignal, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { ChangeHooks } from '../application/change-hooks.js';
import { ReadHooks } from '../application/read-hooks.js';
import { RotateSigningSecret } from '../application/rotate-signing-secret.js';
import { TestHooks } from '../application/test-hooks.js';
import {
  HooksBody,
  HooksResponse,
  SigningSecretResponse,
  TestHooksBody,
  TestHooksResponse,
  testResultView,
} from './hooks.dto.js';

const AGENT = pathResource('agent', 'agentId');

@ApiTags('Hooks')
@Controller('v1/agents/:agentId/hooks')
export class HooksController {
  constructor(
    private readonly readHooks: ReadHooks,
    private readonly changeHooks: ChangeHooks,
    private readonly rotateSigningSecret: RotateSigningSecret,
    private readonly testHooks: TestHooks,
  ) {}

  @Get()
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({ operationId: 'getHooks', summary: "Read an agent's hooks" })
  @ApiOkResponse({ type: HooksResponse })
  @ApiErrors(400, 401, 403, 404)
  async read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<HooksResponse> {
    return { hooks: await this.readHooks.document({ organizationId, agentId }) };
  }

  @Put()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    body: {
      hooks: {
        PreToolUse: [
          {
            matcher: 'mcp__shop__.*',
            hooks: [{ type: 'http', url: 'https://example.com/hooks/check', timeout: 3, failClosed: true }],
          },
        ],
      },
    },
  })
  @ApiOperation({
    operationId: 'replaceHooks',
    summary: "Replace an agent's hooks document",
    description:
      'The handlers of one event are called in parallel. Their additional contexts are kept in document order, one block blocks, on PreToolUse the ' +
      'strictest decision wins (`ask` counts as `deny`), and the first updated input is used. A handler responds with ' +
      '`{decision?: "block", reason?, additionalContext?, hookSpecificOutput?: {additionalContext?, permissionDecision?, ' +
      "permissionDecisionReason?, updatedInput?}}`, or nothing; a string of more than 10000 characters is cut. An updated input is passed to the tool without being compared with the tool's schema. A change does not affect runs that have already begun. " +
      'A message names the path of what is wrong, such as `hooks.PreToolUse[0].hooks[1].url`.',
  })
  @ApiIfMatchHeader()
  @ApiVersionHeader()
  @ApiOkResponse({ type: HooksResponse })
  @ApiErrors(400, 401, 403, 404, 409)
  async replace(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { hooks }: HooksBody,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HooksResponse> {
    const { result, version } = await this.changeHooks.replace(writeTargetOf(caller, agentId, ifMatch), hooks);
    void reply.header('etag', etagOf(version));
    return { hooks: result };
  }

  @Delete()
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.spareAgent } })
  @ApiOperation({
    operationId: 'deleteHooks',
    summary: "Remove an agent's hooks and the values of their headers",
    description: 'The signing secret is kept.',
  })
  @ApiIfMatchHeader()
  @ApiNoContentResponse()
  @ApiErrors(400, 401, 403, 404, 409)
  async delete(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.changeHooks.remove(writeTargetOf(caller, agentId, ifMatch));
  }

  @Post('secret')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiOperation({
    operationId: 'rotateHookSecret',
    summary: 'Create or rotate the secret that signs the calls of http handlers',
    description:
      'Calls have the headers of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Without a secret they are not signed. ' +
      'After a rotation the new and the previous secret both sign for 24 hours.',
  })
  @ApiIfMatchHeader()
  @ApiOkResponse({ type: SigningSecretResponse })
  @ApiErrors(400, 401, 403, 404, 409)
  async rotateSecret(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<SigningSecretResponse> {
    const { secret, createdAt } = await this.rotateSigningSecret.execute(writeTargetOf(caller, agentId, ifMatch));
    return { secret, createdAt: createdAt.toISOString() };
  }

  @Post('test')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    body: { event: 'PreToolUse', input: { tool_name: 'mcp__everything__echo', tool_input: { message: 'Hello!' } } },
  })
  @ApiOperation({
    operationId: 'testHooks',
    summary: 'Call the stored handlers of one event with a sample input',
    description:
      'The handlers are called as in a run. Nothing is written to a thread or a trace. Takes as long as the slowest handler.',
  })
  @ApiOkResponse({ type: TestHooksResponse })
  @ApiErrors(400, 401, 403, 404)
  async test(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { event, input = {} }: TestHooksBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TestHooksResponse> {
    const calls = await this.testHooks.execute({ organizationId, agentId }, event, input, disconnectSignal(reply));
    return { results: calls.map(testResultView) };
  }
}
