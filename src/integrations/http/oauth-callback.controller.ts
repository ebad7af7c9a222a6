import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { answerSignInCallback, ApiErrors, ApiExample, PublicRoute, SIGN_IN_PAGE, SIGN_IN_PAGE_OR_ERROR } from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ClientIdentity } from '../oauth/client-identity.js';
import { CompleteSignIn } from '../oauth/complete-sign-in.js';

/** Where authorization servers send browsers, and what they read about this service. */
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
  @ApiExample({ needs: 'a browser that comes from an authorization server' })
  @ApiOperation({
    operationId: 'completeToolIntegrationSignIn',
    summary: "Complete a sign-in to a tool integration's server",
    description: 'Browsers come here from the authorization server. A state is good for one visit.',
  })
  @ApiQuery({ name: 'state', required: false, description: 'Names the sign-in that was begun.', schema: { type: 'string' } })
  @ApiQuery({ name: 'code', required: false, description: 'What the sign-in is completed with.', schema: { type: 'string' } })
  @ApiQuery({ name: 'iss', required: false, description: 'The authorization server, where it says so.', schema: { type: 'string' } })
  @ApiQuery({ name: 'error', required: false, description: 'Why the person or the server did not go on.', schema: { type: 'string' } })
  @ApiResponse({ status: 302, description: 'The sign-in is completed; to the redirectUrl that it was begun with.' })
  @ApiResponse({ status: 400, description: 'A page that says why the sign-in was not completed.', ...SIGN_IN_PAGE_OR_ERROR })
  @ApiResponse({ status: 502, description: 'A page: the authorization server did not do its part.', ...SIGN_IN_PAGE })
  @ApiResponse({ status: 503, description: 'A page: the service is not available at the moment.', ...SIGN_IN_PAGE })
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await answerSignInCallback(request, reply, {
      complete: (parameter) =>
        this.completeSignIn.execute({ state: parameter('state'), code: parameter('code'), iss: parameter('iss'), error: parameter('error') }),
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
    description: 'The client id metadata document, for authorization servers. Only where PUBLIC_URL is an https URL.',
  })
  @ApiOkResponse({ schema: { type: 'object', additionalProperties: true } })
  @ApiErrors(404)
  clientMetadata(): Readonly<Record<string, unknown>> {
    const { document } = this.identity;
    if (!document) throw new DomainError('not_found', 'The service has no public https URL, and so no such document.');
    return document;
  }
}
