import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiErrors, ApiExample, StringField, UrlField, UuidParam } from '../../platform/http/index.js';
import { StartSignIn } from '../oauth/start-sign-in.js';
import { ChangeableIntegrationGuard } from './changeable-integration.guard.js';

export class AuthorizeBody {
  @UrlField({
    plain: true,
    description:
      'Where the browser goes once the sign-in is completed; without user information, spaces and control characters.',
  })
  readonly redirectUrl!: string;
}

export class AuthorizeResponse {
  @StringField({ description: 'Where a person signs in, within 10 minutes.' })
  readonly authorizationUrl!: string;
}

@ApiTags('Tool integrations')
@Controller('v1/agents/:agentId/tool-integrations/:integrationId')
export class OAuthSignInsController {
  constructor(private readonly startSignIn: StartSignIn) {}

  @Post('authorize')
  @UseGuards(ChangeableIntegrationGuard)
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiExample({
    body: { redirectUrl: 'https://example.com/connected' },
    needs: 'a tool server with an authorization server',
  })
  @ApiOperation({
    operationId: 'authorizeToolIntegration',
    summary: "Start a sign-in to a tool integration's server",
    description:
      'For integrations that authenticate with OAuth. Send a person to authorizationUrl; once the sign-in is completed the ' +
      'browser is redirected to redirectUrl. The last completed sign-in counts, for every agent that uses the integration.',
  })
  @ApiOkResponse({ type: AuthorizeResponse })
  @ApiErrors(400, 401, 403, 404, 422, 502)
  async authorize(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('integrationId') integrationId: string,
    @Body() { redirectUrl }: AuthorizeBody,
    @Req() request: FastifyRequest,
  ): Promise<AuthorizeResponse> {
    const origin = `${request.protocol}://${request.host}`;
    return {
      authorizationUrl: await this.startSignIn.execute({ caller, agentId, integrationId, redirectUrl, origin }),
    };
  }
}
