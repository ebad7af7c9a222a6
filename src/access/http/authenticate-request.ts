import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isPublicRequest } from '../../platform/http/index.js';
import { AuthenticateApiKey } from '../application/authenticate-api-key.js';
import { ApiKeyInvalid, ApiKeyMissing, UndeclaredRoute } from '../domain/access.errors.js';
import type { Principal } from '../domain/principal.js';
import { SessionPasses } from '../application/session-passes.js';
import { requestDeclarationOf } from './access.decorator.js';
import { FailedCredentials } from './failed-credentials.js';
import { admit } from './request-access.js';

const BEARER = /^bearer +(\S+) *$/i;
/** Three parts in base64url: a signed token, whose signature may be missing. Any other text counts as an API key. */
const SESSION_PASS = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * Authenticates before the body is read: nobody without a credential makes the service buffer or parse
 * anything. It works on the matched route, never on the path's spelling.
 */
@Injectable()
export class AuthenticateRequest {
  constructor(
    private readonly authenticateApiKey: AuthenticateApiKey,
    private readonly sessionPasses: SessionPasses,
    private readonly failedCredentials: FailedCredentials,
  ) {}

  /**
   * Fastify's `onRequest` hook. Public routes pass, and so do paths that no route matches: those answer 404.
   * @throws ApiKeyMissing, ApiKeyInvalid, PassInvalid, PassExpired, UndeclaredRoute, DomainError `rate_limited`
   * in place of ApiKeyInvalid after too many keys that failed
   */
  readonly hook = async (request: FastifyRequest): Promise<void> => {
    if (request.is404 || isPublicRequest(request)) return;
    if (!requestDeclarationOf(request))
      throw new UndeclaredRoute(`${request.method} ${request.routeOptions.url ?? ''}`);
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new ApiKeyMissing();
    admit(request, await this.authenticate(request, token));
  };

  private async authenticate(request: FastifyRequest, token: string): Promise<Principal> {
    // A forged one costs a check of its signature and nothing outside the process, so those that fail are not counted.
    if (SESSION_PASS.test(token)) return this.sessionPasses.verify(token);
    try {
      return await this.authenticateApiKey.execute(token);
    } catch (error) {
      if (error instanceof ApiKeyInvalid) await this.failedCredentials.count(request);
      throw error;
    }
  }
}
