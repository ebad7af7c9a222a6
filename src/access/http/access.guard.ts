import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addRequestFacts, isPublicRoute } from '../../platform/http/index.js';
import { isUuid } from '../../platform/ids/index.js';
import type { ResourceOfAgent } from '../application/resource-lookup.js';
import {
  ForbiddenAgentNotInPass,
  ForbiddenByAgentAllowlist,
  ForbiddenByKeyRole,
  ForbiddenForSessionPass,
  ForbiddenOrganizationEndpoint,
  UndeclaredRoute,
} from '../domain/access.errors.js';
import { hasCapability, mayUseAgent, type Principal, type SessionPassPrincipal } from '../domain/principal.js';
import { type AccessDeclaration, accessDeclarationOf, acceptsCredential } from './access.decorator.js';
import { accessOf } from './request-access.js';

/**
 * Authorizes every request that is authenticated and within its budget (`BudgetGuard`). The order of checks is part of the
 * interface: capability, organization level, existence of the resource, allowlist. Refuses routes without a declaration, and
 * session passes on routes that do not accept them.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const handler = context.getHandler();
    const declaration = accessDeclarationOf(handler);
    if (!declaration) {
      if (isPublicRoute(handler)) return true;
      throw new UndeclaredRoute(`${context.getClass().name}.${handler.name}`);
    }
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const access = accessOf(context);
    const { principal } = access;
    checkRoute(declaration, principal);
    for (const [reference, found] of await access.requireAll()) {
      access.resources.set(reference.kind, found);
      if (found) addRequestFacts(request, { agentId: found.agentId });
      void reply.headers(access.headersOf(reference, found));
    }
    checkAgents(principal, access.resources.values());
    if (principal.kind === 'session_pass') checkNamedAgent(principal, request);
    return true;
  }
}

function checkRoute(declaration: AccessDeclaration, principal: Principal): void {
  // `AccessHooks` has already checked this. Repeated here so that a missing hook does not open routes.
  if (!acceptsCredential(declaration, principal)) throw ForbiddenForSessionPass.route();
  if (principal.kind === 'session_pass') return;
  const { scope, level } = declaration;
  if (scope !== 'none' && !hasCapability(principal, scope)) throw ForbiddenByKeyRole.lacking(scope);
  if (level === 'organization' && principal.agentIds !== null) throw new ForbiddenOrganizationEndpoint();
}

function checkAgents(principal: Principal, resources: Iterable<ResourceOfAgent | null>): void {
  for (const found of resources) {
    if (!found || mayUseAgent(principal, found.agentId)) continue;
    throw principal.kind === 'session_pass' ? new ForbiddenAgentNotInPass() : new ForbiddenByAgentAllowlist();
  }
}

const AGENT_FIELDS = ['assistant_id', 'agentId'];

/** Routes that accept a pass take no agent. A request that still names another one gets this error instead of a misleading one. */
function checkNamedAgent({ agentId }: SessionPassPrincipal, { body, query }: FastifyRequest): void {
  for (const holder of [body, query]) {
    if (typeof holder !== 'object' || holder === null) continue;
    for (const field of AGENT_FIELDS) {
      const named: unknown = Object.hasOwn(holder, field) ? Reflect.get(holder, field) : undefined;
      if (isUuid(named) && named.toLowerCase() !== agentId) throw new ForbiddenAgentNotInPass();
    }
  }
}
