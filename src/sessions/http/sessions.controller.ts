import { Body, Controller, Header, HttpCode, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, type ApiKeyPrincipal, bodyResource, Caller, Resource } from '../../access/index.js';
import type { CurrentAgent } from '../../agents/index.js';
import { ApiCauses, ApiErrors, ApiExample, EXAMPLE_IDS } from '../../platform/http/index.js';
import { MintSession } from '../application/mint-session.js';
import { RenewSession } from '../application/renew-session.js';
import { SESSION_AGENT } from '../application/session-agent-lookup.js';
import {
  MintedSessionResponse,
  MintSessionBody,
  RefreshedSessionResponse,
  refreshedView,
  RefreshSessionBody,
  tokenView,
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
      'session ends it. A conversation in which nothing is said is removed after 7 days.',
  })
  @ApiCreatedResponse({ type: MintedSessionResponse })
  @ApiErrors(400, 401, 403, 429)
  @ApiCauses(404, 'agent_not_found', 'thread_not_found')
  async mint(
    @Caller() caller: ApiKeyPrincipal,
    @Body() { endUser, thread_id: threadId }: MintSessionBody,
    @Resource(SESSION_AGENT) agent: CurrentAgent,
  ): Promise<MintedSessionResponse> {
    const credentials = await this.mintSession.execute(caller, { agentId: agent.id, endUser, threadId });
    if (!credentials.resumeToken) throw new Error('A session was minted without a resume token');
    const { session, pass } = refreshedView(credentials);
    return { session, pass, resumeToken: tokenView(credentials.resumeToken) };
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
      'The session stays the same and ends when it was to end; the resume token is not given again. 240 renewals are the ' +
      'most of a session (429 `session_refresh_cap_exhausted`). A token that has expired answers 400 ' +
      '`resume_token_expired`, any other that is not good 400 `resume_token_invalid`.',
  })
  @ApiOkResponse({ type: RefreshedSessionResponse })
  @ApiErrors(400, 401, 403, 429)
  @ApiCauses(404, 'agent_not_found', 'thread_not_found')
  async refresh(
    @Caller() caller: ApiKeyPrincipal,
    @Body() body: RefreshSessionBody,
  ): Promise<RefreshedSessionResponse> {
    const { resumeToken, endUser } = body;
    return refreshedView(await this.renewSession.execute(caller, { resumeToken, endUser }));
  }
}
