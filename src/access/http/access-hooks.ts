import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPublicRequest, type RequestHooks } from '../../platform/http/index.js';
import { setRateLimitHeaders } from '../../platform/limits/index.js';
import { AuthenticateApiKey } from '../application/authenticate-api-key.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { SessionPasses } from '../application/session-passes.js';
import { ApiKeyInvalid, ApiKeyMissing, ForbiddenForSessionPass, UndeclaredRoute } from '../domain/access.errors.js';
import type { Principal } from '../domain/principal.js';
import { acceptsCredential, requestDeclarationOf } from './access.decorator.js';
import { BudgetGuard } from './budget.guard.js';
import { FailedCredentials } from './failed-credentials.js';
import { principalOf, RequestAccess, setAccess } from './request-access.js';

const BEARER = /^bearer +(\S+) *$/i;
/** Three base64url parts are a signed token, whose signature may be empty. Any other text counts as an API key. */
const SESSION_PASS = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const LIMIT_HEADER = 'RateLimit-Limit';

/** The parts of access control that are Fastify hooks, because guards run after the body is read. */
@Injectable()
export class AccessHooks {
  constructor(
    private readonly lookups: ResourceLookups,
    private readonly authenticateApiKey: AuthenticateApiKey,
    private readonly sessionPasses: SessionPasses,
    private readonly failedCredentials: FailedCredentials,
    private readonly budgets: BudgetGuard,
  ) {}

  /**
   * Authenticates before the body is read, so that a client without a credential cannot make the service buffer or parse one. It
   * uses the matched route, not the text of the path. Public routes need no credential, and neither do unmatched paths, which
   * answer 404.
   * @throws ApiKeyMissing, ApiKeyInvalid, PassInvalid, PassExpired, UndeclaredRoute; DomainError `rate_limited` instead of
   *   ApiKeyInvalid after too many invalid keys
   */
  async authenticate(request: FastifyRequest): Promise<void> {
    if (request.is404 || isPublicRequest(request)) return;
    const declaration = requestDeclarationOf(request);
    if (!declaration) throw new UndeclaredRoute(`${request.method} ${request.routeOptions.url ?? ''}`);
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new ApiKeyMissing();
    const principal = await this.verify(request, token);
    setAccess(request, new RequestAccess(principal, declaration, request, this.lookups));
  }

  /**
   * Refuses a session pass on routes that do not accept it, before the body is read. Every visitor of a customer's page has a pass,
   * and must not make the service receive 50 MB of an upload that it then refuses. The request still counts against the budget of
   * its session.
   * @throws ForbiddenForSessionPass, DomainError `rate_limited`
   */
  async refuseSessionPass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const principal = principalOf(request);
    const declaration = requestDeclarationOf(request);
    if (!principal || !declaration || acceptsCredential(declaration, principal)) return;
    await this.budgets.canActivate(new ExecutionContextHost([request, reply]));
    throw ForbiddenForSessionPass.route();
  }

  /**
   * For responses that are sent before `BudgetGuard` runs. Such a request, for example one with an unreadable body, is counted
   * here. After a failed credential the headers describe the budget of the address.
   */
  async addRateLimitHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      if (principalOf(request)) await this.budgets.count(new ExecutionContextHost([request, reply]));
      else setRateLimitHeaders(reply, this.failedCredentials.stateOf(request));
    } catch {
      // The response is sent also when the counters are not available.
    }
  }

  private async verify(request: FastifyRequest, token: string): Promise<Principal> {
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

export function accessHooks(app: INestApplicationContext): RequestHooks {
  const hooks = app.get(AccessHooks);
  return {
    onRequest: [(request) => hooks.authenticate(request), (request, reply) => hooks.refuseSessionPass(request, reply)],
    onSend: [
      (request, reply, _payload, done) => {
        if (reply.hasHeader(LIMIT_HEADER) || !isLimited(request)) done();
        else hooks.addRateLimitHeaders(request, reply).then(() => done(), done);
      },
    ],
  };
}

function isLimited(request: FastifyRequest): boolean {
  if (request.method === 'OPTIONS' || request.is404) return false;
  return requestDeclarationOf(request)?.rateLimit !== undefined || principalOf(request)?.kind === 'session_pass';
}
