import { Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ForbiddenForSessionPass } from '../domain/access.errors.js';
import { isOpenTo, requestDeclarationOf } from './access.decorator.js';
import { BudgetGuard } from './budget.guard.js';
import { requestAccess } from './request-access.js';

/**
 * Refuses a session pass on a route that does not name it before the body is read: a pass is in the hands of anybody
 * who visits a customer's page, and may not make the service take 50 MB for an upload that it refuses anyway.
 */
@Injectable()
export class RefusePass {
  constructor(private readonly guard: BudgetGuard) {}

  /**
   * Fastify's `onRequest` hook, after authentication. The request counts for its session, as every other.
   * @throws ForbiddenForSessionPass, DomainError `rate_limited`
   */
  readonly hook = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const principal = requestAccess(request)?.principal;
    const declaration = requestDeclarationOf(request);
    if (!principal || !declaration || isOpenTo(declaration, principal)) return;
    await this.guard.canActivate(new ExecutionContextHost([request, reply]));
    throw ForbiddenForSessionPass.route();
  };
}
