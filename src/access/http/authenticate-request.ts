import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isPublicRequest } from '../../platform/http/index.js';
import { AuthenticateApiKey } from '../application/authenticate-api-key.js';
import { ApiKeyInvalid, ApiKeyMissing, UndeclaredRoute } from '../domain/access.errors.js';
import type { Principal } from '../domain/principal.js';
import { SessionPasses } from '../application/session-passes.js';
import { requestDeclarationOf } from './access.decorator.js';
import { FailedCredentials } from './failed-credentials.js';
import { setPrincipal } from './request-access.js';

const BEARER = /^bearer +(\S+) *$/i;
/** Three base64url parts are a signed token, whose signature may be empty. Any other text counts as an API key. */
const SESSION_PASS = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Authenticates before the body is read, so that a client without a credential cannot make the service buffer or parse one. It
 * uses the matched route, not the text of the path.
 */
@Injectable()
export class AuthenticateRequest {
  constructor(
    private readonly authenticateApiKey: AuthenticateApiKey,
    private readonly sessionPasses: SessionPasses,
    private readonly failedCredentials: FailedCredentials,
  ) {}

  /**
   * Fastify's `onRequest` hook. Public routes need no credential, and neither do unmatched paths, which answer 404.
   * @throws ApiKeyMissing, ApiKeyInvalid, PassInvalid, PassExpired, UndeclaredRoute; DomainError `rate_limited` instead of
   *   ApiKeyInvalid after too many invalid keys
   */
  readonly hook = async (request: FastifyRequest): Promise<void> => {
    if (request.is404 || isPublicRequest(request)) return;
    if (!requestDeclarationOf(request))
      throw new UndeclaredRoute(`${request.method} ${request.routeOptions.url ?? ''}`);
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new ApiKeyMissing();
    setPrincipal(request, await this.authenticate(request, token));
  };

  private async authenticate(request: FastifyRequest, token: string): Promise<Principal> {
    // Failures are not counted: checking a signature costs nothing outside this process.
    if (SESSION_PASS.test(token)) return this.sessionPasses.verify(token);
    try {
      return await this.authenticateApiKey.execute(token);
    } catch (error) {
      if (error instanceof ApiKeyInvalid) await this.failedCredentials.count(request);
      throw error;
    }
  }
}
