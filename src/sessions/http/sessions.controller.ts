import { Body, Controller, Header, HttpCode, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, type ApiKeyPrincipal, bodyResource, Caller, Resource } from '../../access/index.js';
import type { CurrentAgent } from '../../agents/index.js';
import { ApiCauses, ApiExample, EXAMPLE_IDS } from '../../platform/http/index.js';
import { MintSession } from '../application/mint-session.js';
import { RenewSession } from '../application/renew-session.js';
import { SESSION_AGENT } from '../application/session-agent-lookup.js';
import {
  MintedSessionResponse,
  MintSessionBody,
  RefreshedSessionResponse,
  RefreshSessionBody,
  toRefreshedSession,
  toTimedToken,
} from './sessions.dto.js';

@ApiTags('Sessions')
@Controller('v1/sessions')
export class SessionsController {
  constructor(
    private readonly mintSession: MintSession,
    private readonly renewSession: RenewSession,
  ) {}

  @Post()
  @Access({ scope: 'chat', resource: bodyResource(SESSION_AGENT, 'assistant_id'), rateLimit: 'sessions' })
  @Header('cache-control', 'no-store')
  @ApiExample({ body: { assistant_id: EXAMPLE_IDS.agent, endUser: 'user-42' } })
  @ApiOperation({
    operationId: 'createSession',
    summary: 'Mint a session for a visitor of your site',
    description:
      'Called by your server, with an API key that never reaches the browser. The pass opens the messages and the runs of ' +
      'one conversation, and nothing else; a run with it takes no `config.userContext`. Revoking the key that minted a ' +
      'session ends it. A conversation without messages is removed after 7 days.',
  })
  @ApiCreatedResponse({ type: MintedSessionResponse })
  @ApiCauses(404, 'agent_not_found', 'thread_not_found')
  async mint(
    @Caller() caller: ApiKeyPrincipal,
    @Body() { endUser, thread_id: threadId }: MintSessionBody,
    @Resource(SESSION_AGENT) agent: CurrentAgent,
  ): Promise<MintedSessionResponse> {
    const minted = await this.mintSession.execute(caller, { agentId: agent.id, endUser, threadId });
    const { session, pass } = toRefreshedSession(minted);
    return { session, pass, resumeToken: toTimedToken(minted.resumeToken) };
  }

  @Post('refresh')
  @HttpCode(200)
  @Access({ scope: 'chat', rateLimit: 'sessionRefresh' })
  @Header('cache-control', 'no-store')
  @ApiExample({
    body: { resumeToken: '<resumeToken.token of the minted session>', endUser: 'user-42' },
    needs: 'the resume token of a session, which is shown once',
  })
  @ApiOperation({
    operationId: 'refreshSession',
    summary: 'Get a new pass for a session',
    description:
      'The session and its expiry do not change, and the resume token is not returned again. A session has at most 240 renewals ' +
      '(429 `session_refresh_cap_exhausted`). An expired token is answered with 400 `resume_token_expired`, and any other ' +
      'invalid token with 400 `resume_token_invalid`.',
  })
  @ApiOkResponse({ type: RefreshedSessionResponse })
  @ApiCauses(404, 'agent_not_found', 'thread_not_found')
  async refresh(
    @Caller() caller: ApiKeyPrincipal,
    @Body() body: RefreshSessionBody,
  ): Promise<RefreshedSessionResponse> {
    const { resumeToken, endUser } = body;
    return toRefreshedSession(await this.renewSession.execute(caller, { resumeToken, endUser }));
  }
}
