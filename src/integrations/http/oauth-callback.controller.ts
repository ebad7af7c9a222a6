import { Controller, Get, Header, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ERROR_STATUS } from '../../platform/errors/index.js';
import { ApiErrors, errorAnswer, PublicRoute } from '../../platform/http/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ClientIdentity } from '../oauth/client-identity.js';
import { type AuthorizationResponse, CompleteSignIn } from '../oauth/complete-sign-in.js';
import { PAGE_POLICY, signInFailedPage } from './oauth-callback.page.js';

/** Longer than any code; what is longer is not looked at. */
const MAX_PARAMETER_LENGTH = 8_192;

const PAGE = { content: { 'text/html': { schema: { type: 'string' } } } } as const;
/** A query that no route takes is refused before this one is asked. */
const PAGE_OR_ERROR = { content: { ...PAGE.content, ...errorAnswer(400, 'Error').content } };

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
  @ApiOperation({
    operationId: 'completeToolIntegrationSignIn',
    summary: "Complete a sign-in to a tool integration's server",
    description: 'Browsers come here from the authorization server. A state is good for one visit.',
  })
  @ApiQuery({ name: 'state', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'code', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'iss', required: false, schema: { type: 'string' } })
  @ApiQuery({ name: 'error', required: false, schema: { type: 'string' } })
  @ApiResponse({ status: 302, description: 'The sign-in is completed; to the redirectUrl that it was begun with.' })
  @ApiResponse({ status: 400, description: 'A page that says why the sign-in was not completed.', ...PAGE_OR_ERROR })
  @ApiResponse({ status: 502, description: 'A page: the authorization server did not do its part.', ...PAGE })
  @ApiResponse({ status: 503, description: 'A page: the service is not available at the moment.', ...PAGE })
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    // Whoever only looks where a link leads must not use up the sign-in.
    if (request.method !== 'GET') {
      await reply.status(200).send();
      return;
    }
    try {
      const redirectUrl = await this.completeSignIn.execute(responseOf(request.query));
      await reply.status(302).header('location', new URL(redirectUrl).href).send();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.logger.info({ requestId: request.id, err: error }, 'A sign-in to a tool server was not completed');
      await sendPage(reply, error);
    }
  }

  @Get('client-metadata')
  @PublicRoute()
  @Header('cache-control', 'public, max-age=3600')
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

/** A parameter that comes twice is as good as none. */
function responseOf(query: unknown): AuthorizationResponse {
  const parameters = query as Readonly<Record<string, unknown>>;
  const text = (name: string): string | undefined => {
    const value = parameters[name];
    return typeof value === 'string' && value.length <= MAX_PARAMETER_LENGTH ? value : undefined;
  };
  return { state: text('state'), code: text('code'), iss: text('iss'), error: text('error') };
}

async function sendPage(reply: FastifyReply, { kind, message }: DomainError): Promise<void> {
  await reply
    .status(ERROR_STATUS[kind])
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': PAGE_POLICY,
      'x-content-type-options': 'nosniff',
    })
    .send(signInFailedPage(message));
}
