import { Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ForbiddenForSessionPass } from '../domain/access.errors.js';
import { acceptsCredential, requestDeclarationOf } from './access.decorator.js';
import { BudgetGuard } from './budget.guard.js';
import { requestAccess } from './request-access.js';

/**
 * Refuses a session pass on routes that do not accept it, before the body is read. Every visitor of a customer's page has a pass,
 * and must not make the service receive 50 MB of an upload that it then refuses.
 */
@Injectable()
export class RefuseSessionPass {
  constructor(private readonly guard: BudgetGuard) {}

  /**
   * Fastify's `onRequest` hook, after authentication. The request still counts against the budget of its session.
   * @throws ForbiddenForSessionPass, DomainError `rate_limited`
   */
  readonly hook = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const principal = requestAccess(request)?.principal;
    const declaration = requestDeclarationOf(request);
    if (!principal || !declaration || acceptsCredential(declaration, principal)) return;
    await this.guard.canActivate(new ExecutionContextHost([request, reply]));
    throw ForbiddenForSessionPass.route();
  };
}
