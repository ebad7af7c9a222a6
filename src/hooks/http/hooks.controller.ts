import { Body, Controller, Delete, Get, HttpCode, Post, Put, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { AgentWriteTarget, ApiVersionHeader, etagOf, type WriteTarget } from '../../agents/index.js';
import { ApiErrors, ApiExample, disconnectSignal, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { ChangeHooks } from '../application/change-hooks.js';
import { ChangeSessionStartHook } from '../application/change-session-start-hook.js';
import { ReadHooks } from '../application/read-hooks.js';
import { RotateSigningSecret } from '../application/rotate-signing-secret.js';
import { TestHooks } from '../application/test-hooks.js';
import {
  HooksBody,
  HooksResponse,
  SessionStartHookSettings,
  SigningSecretResponse,
  TestHooksBody,
  TestHooksResponse,
  testResultView,
  toSessionStartHook,
} from './hooks.dto.js';

const AGENT = pathResource('agent', 'agentId');

@ApiTags('Hooks')
@Controller('v1/agents/:agentId')
export class HooksController {
  constructor(
    private readonly readHooks: ReadHooks,
    private readonly changeHooks: ChangeHooks,
    private readonly rotateSigningSecret: RotateSigningSecret,
    private readonly testHooks: TestHooks,
    private readonly changeSessionStartHook: ChangeSessionStartHook,
  ) {}

  @Get('hooks')
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({ operationId: 'getHooks', summary: "Read an agent's hooks" })
  @ApiOkResponse({ type: HooksResponse })
  @ApiErrors(404)
  async read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<HooksResponse> {
    return { hooks: await this.readHooks.document({ organizationId, agentId }) };
  }

  @Put('hooks')
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
  @ApiVersionHeader()
  @ApiOkResponse({ type: HooksResponse })
  @ApiErrors(404, 409)
  async replace(
    @AgentWriteTarget() target: WriteTarget,
    @Body() { hooks }: HooksBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<HooksResponse> {
    const { result, version } = await this.changeHooks.replace(target, hooks);
    void reply.header('etag', etagOf(version));
    return { hooks: result };
  }

  @Delete('hooks')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.spareAgent } })
  @ApiOperation({
    operationId: 'deleteHooks',
    summary: "Remove an agent's hooks and the values of their headers",
    description: 'The signing secret is kept.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404, 409)
  async delete(@AgentWriteTarget() target: WriteTarget): Promise<void> {
    await this.changeHooks.remove(target);
  }

  @Post('hooks/secret')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiOperation({
    operationId: 'rotateHookSecret',
    summary: 'Create or rotate the secret that signs the calls of http handlers',
    description:
      'Calls have the headers of Standard Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Without a secret they are not signed. ' +
      'After a rotation the new and the previous secret both sign for 24 hours.',
  })
  @ApiOkResponse({ type: SigningSecretResponse })
  @ApiErrors(404, 409)
  async rotateSecret(@AgentWriteTarget() target: WriteTarget): Promise<SigningSecretResponse> {
    const { secret, createdAt } = await this.rotateSigningSecret.execute(target);
    return { secret, createdAt: createdAt.toISOString() };
  }

  @Post('hooks/test')
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
  @ApiErrors(404)
  async test(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { event, input = {} }: TestHooksBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TestHooksResponse> {
    const calls = await this.testHooks.execute({ organizationId, agentId }, event, input, disconnectSignal(reply));
    return { results: calls.map(testResultView) };
  }

  @Get('session-start-hook')
  @Access({ scope: 'none', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.hookedAgent } })
  @ApiOperation({
    operationId: 'getSessionStartHook',
    summary: "Read an agent's session-start hook",
    description: 'Answers 404 when the agent has none.',
  })
  @ApiOkResponse({ type: SessionStartHookSettings })
  @ApiErrors(404)
  readSessionStart(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<SessionStartHookSettings> {
    return this.readHooks.sessionStart({ organizationId, agentId });
  }

  @Put('session-start-hook')
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
  @ApiVersionHeader()
  @ApiOkResponse({ type: SessionStartHookSettings })
  @ApiErrors(404, 409)
  async replaceSessionStart(
    @AgentWriteTarget() target: WriteTarget,
    @Body() body: SessionStartHookSettings,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionStartHookSettings> {
    const { result, version } = await this.changeSessionStartHook.execute(target, toSessionStartHook(body));
    void reply.header('etag', etagOf(version));
    return result;
  }

  @Delete('session-start-hook')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { agentId: EXAMPLE_IDS.spareAgent } })
  @ApiOperation({
    operationId: 'deleteSessionStartHook',
    summary: "Remove an agent's session-start hook",
    description: 'Threads that have started keep their contexts.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404, 409)
  async deleteSessionStart(@AgentWriteTarget() target: WriteTarget): Promise<void> {
    await this.changeSessionStartHook.execute(target, null);
  }
}
