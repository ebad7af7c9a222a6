import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPublicRoute, noteOn } from '../../platform/http/index.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import {
  ForbiddenByAgentAllowlist,
  ForbiddenByKeyRole,
  ForbiddenOrganizationEndpoint,
  UndeclaredRoute,
} from '../domain/access.errors.js';
import { hasCapability, mayUseAgent, type Principal } from '../domain/principal.js';
import { type AccessDeclaration, accessDeclarationOf } from './access.decorator.js';
import { requestAccess } from './request-access.js';
import { RequestedResources } from './requested-resources.js';

/**
 * Decides about every request that has been authenticated and whose budget is not used up (`BudgetGuard`), in the
 * order that the interface promises: capability, organization level, the resource in the organization, allowlist. A
 * route that declares nothing is refused.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly lookups: ResourceLookups) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    const declaration = accessDeclarationOf(handler);
    if (!declaration) {
      if (isPublicRoute(handler)) return true;
      throw new UndeclaredRoute(`${context.getClass().name}.${handler.name}`);
    }
    const http = context.switchToHttp();
    await this.decide(declaration, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
    return true;
  }

  private async decide(declaration: AccessDeclaration, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const access = requestAccess(request);
    if (!access) throw new Error('The request reached the guard without having been authenticated');
    const { principal } = access;
    checkScope(declaration, principal);
    checkLevel(declaration, principal);
    for (const { kind, found, headers } of await RequestedResources.of(request, this.lookups).findAll()) {
      access.resources.set(kind, found);
      if (found) noteOn(request, { agentId: found.agentId });
      void reply.headers(headers);
    }
    for (const found of access.resources.values()) {
      if (found && !mayUseAgent(principal, found.agentId)) throw new ForbiddenByAgentAllowlist();
    }
  }
}

function checkScope({ scope }: AccessDeclaration, principal: Principal): void {
  if (scope !== 'none' && !hasCapability(principal, scope)) throw ForbiddenByKeyRole.lacking(scope);
}

function checkLevel({ level }: AccessDeclaration, principal: Principal): void {
  if (level === 'organization' && principal.agentIds !== null) throw new ForbiddenOrganizationEndpoint();
}
