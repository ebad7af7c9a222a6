import { Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tellWindow } from '../../platform/limits/index.js';
import { requestDeclarationOf } from './access.decorator.js';
import { BudgetGuard } from './budget.guard.js';
import { FailedCredentials } from './failed-credentials.js';
import { requestAccess } from './request-access.js';

const LIMIT_HEADER = 'RateLimit-Limit';

/**
 * Adds the rate limit headers to responses of routes with a budget that were sent before `BudgetGuard` ran. Such a request, for
 * example one with an unreadable body, is counted here. After a failed credential the headers describe the budget of the address.
 */
@Injectable()
export class RateLimitHeaders {
  constructor(
    private readonly guard: BudgetGuard,
    private readonly failedCredentials: FailedCredentials,
  ) {}

  /** Fastify's `onSend` hook. */
  readonly hook = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void => {
    if (reply.hasHeader(LIMIT_HEADER) || !isLimited(request)) {
      done();
      return;
    }
    // The response is sent also when the counters are not available.
    this.addHeaders(request, reply).then(done, () => {
      done();
    });
  };

  private async addHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (requestAccess(request)) await this.guard.count(new ExecutionContextHost([request, reply]));
    else tellWindow(reply, await this.failedCredentials.stateOf(request));
  }
}

function isLimited(request: FastifyRequest): boolean {
  if (request.method === 'OPTIONS' || request.is404) return false;
  return (
    requestDeclarationOf(request)?.rateLimit !== undefined || requestAccess(request)?.principal.kind === 'session_pass'
  );
}
