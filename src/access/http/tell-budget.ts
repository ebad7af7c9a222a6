import { Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { tellWindow } from '../../platform/limits/index.js';
import { requestDeclarationOf } from './access.decorator.js';
import { BudgetGuard } from './budget.guard.js';
import { FailedCredentials } from './failed-credentials.js';
import { requestAccess } from './request-access.js';

const TOLD_BY = 'RateLimit-Limit';

/**
 * Every answer of a route with a budget tells what is left of it, also one that was given before the guard was asked:
 * a body that cannot be read counts like any request, and a credential that fails is told of the budget of its address.
 */
@Injectable()
export class TellBudget {
  constructor(
    private readonly guard: BudgetGuard,
    private readonly failedCredentials: FailedCredentials,
  ) {}

  /** Fastify's `onSend` hook. */
  readonly hook = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void => {
    if (reply.hasHeader(TOLD_BY) || !isLimited(request)) {
      done();
      return;
    }
    // Without these headers the answer is still the answer.
    this.tell(request, reply).then(done, () => {
      done();
    });
  };

  private async tell(request: FastifyRequest, reply: FastifyReply): Promise<void> {
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
