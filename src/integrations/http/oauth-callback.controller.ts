import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import {
  answerSignInCallback,
  ApiErrors,
  ApiExample,
  ApiSignInCallback,
  PublicRoute,
} from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ClientIdentity } from '../oauth/client-identity.js';
import { CompleteSignIn } from '../oauth/complete-sign-in.js';

/** The routes that authorization servers use: the redirect of a browser, and the client metadata of this service. */
@ApiTags('Tool integrations')
@Controller('v1/oauth/mcp')
export class OAuthCallbackController {
  constructor(
    private readonly completeSignIn: CompleteSignIn,
    private readonly identity: ClientIdentity,
    private readonly logger: Logger,
  ) {}

  @Get('callback')
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

  @Get('client-metadata')
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
