import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isPublicRoute } from '../../platform/http/index.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import {
  ForbiddenByAgentAllowlist,
  ForbiddenByKeyRole,
  ForbiddenOrganizationEndpoint,
  UndeclaredRoute,
} from '../domain/access.errors.js';
import { hasCapability, mayUseAgent, type Principal } from '../domain/principal.js';
import { ACCESS_DECLARATION, type AccessDeclaration } from './access.decorator.js';
import { ChatBudget } from './chat-budget.js';
import { requestAccess } from './request-access.js';
import { RequestedResources } from './requested-resources.js';
import { TraceBudget } from './trace-budget.js';

/**
 * Decides about every request that has been authenticated, in the order that the interface promises:
 * rate limit, capability, organization level, the resource in the organization, allowlist. A route that
 * declares nothing is refused.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly lookups: ResourceLookups,
    private readonly chatBudget: ChatBudget,
    private readonly traceBudget: TraceBudget,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    const declaration = this.reflector.get<AccessDeclaration | undefined>(ACCESS_DECLARATION, handler);
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
    const resources = new RequestedResources(declaration, this.lookups, request, principal.organizationId);
    try {
      await this.spend(declaration.rateLimit, principal, resources, reply);
    } catch (error) {
      void reply.headers(await resources.headersOfRefusal());
      throw error;
    }
    checkScope(declaration, principal);
    checkLevel(declaration, principal);
    for (const { kind, found, headers } of await resources.findAll()) {
      access.resources.set(kind, found);
      void reply.headers(headers);
    }
    for (const found of access.resources.values()) {
      if (found && !mayUseAgent(principal, found.agentId)) throw new ForbiddenByAgentAllowlist();
    }
  }

  private async spend(
    budget: AccessDeclaration['rateLimit'],
    { organizationId }: Principal,
    resources: RequestedResources,
    reply: FastifyReply,
  ): Promise<void> {
    switch (budget) {
      case undefined:
        return;
      case 'chat':
        return this.chatBudget.spend(organizationId, await resources.agentId(), reply);
      case 'traces':
        return this.traceBudget.spend(organizationId, reply);
      default:
        budget satisfies never;
    }
  }
}

function checkScope({ scope }: AccessDeclaration, principal: Principal): void {
  if (scope !== 'none' && !hasCapability(principal, scope)) throw ForbiddenByKeyRole.lacking(scope);
}

function checkLevel({ level }: AccessDeclaration, principal: Principal): void {
  if (level === 'organization' && principal.agentIds !== null) throw new ForbiddenOrganizationEndpoint();
}
