import { Body, Controller, Get, Header, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { DomainError } from '../../platform/errors/index.js';
import {
  answerSignInCallback,
  ApiErrors,
  ApiExample,
  ApiSignInCallback,
  PublicRoute,
  StringField,
  UrlField,
  UuidParam,
} from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ClientIdentity } from '../oauth/client-identity.js';
import { CompleteSignIn } from '../oauth/complete-sign-in.js';
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
@Controller('v1')
export class OAuthController {
  constructor(
    private readonly startSignIn: StartSignIn,
    private readonly completeSignIn: CompleteSignIn,
    private readonly identity: ClientIdentity,
    private readonly logger: Logger,
  ) {}

  @Post('agents/:agentId/tool-integrations/:integrationId/authorize')
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
  @ApiErrors(404, 422, 502)
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

  @Get('oauth/mcp/callback')
  @PublicRoute()
  @ApiSignInCallback(
    'the authorization server',
    {
      operationId: 'completeToolIntegrationSignIn',
      summary: "Complete a sign-in to a tool integration's server",
      description: 'Browsers come here from the authorization server. A state is valid once.',
    },
    { iss: 'The authorization server, if it sends this parameter.' },
  )
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answerSignInCallback(request, reply, {
      complete: (response) => this.completeSignIn.execute(response),
      failed: (err) => this.logger.info({ requestId: request.id, err }, 'A sign-in to a tool server was not completed'),
    });
  }

  @Get('oauth/mcp/client-metadata')
  @PublicRoute()
  @Header('cache-control', 'public, max-age=3600')
  @ApiExample({ needs: 'a PUBLIC_URL of https' })
  @ApiOperation({
    operationId: 'getOAuthClientMetadata',
    summary: 'This service as an OAuth client',
    description:
      'The client id metadata document, for authorization servers. Exists only if PUBLIC_URL is an https URL.',
  })
  @ApiOkResponse({ schema: { type: 'object', additionalProperties: true } })
  @ApiErrors(404)
  clientMetadata(): Readonly<Record<string, unknown>> {
    const { document } = this.identity;
    if (!document)
      throw new DomainError('not_found', 'This document exists only if the service has a public https URL.');
    return document;
  }
}
