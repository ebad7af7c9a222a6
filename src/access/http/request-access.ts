import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { addRequestFacts } from '../../platform/http/index.js';
import type { ResourceOfAgent } from '../application/resource-lookup.js';
import type { ApiKeyPrincipal, Principal } from '../domain/principal.js';

/** The results of authentication and of the guard for one request. */
export interface RequestAccess {
  readonly principal: Principal;
  /** By kind. Null when the body names no valid id, which the validation of the body reports. */
  readonly resources: Map<string, ResourceOfAgent | null>;
}

const accessByRequest = new WeakMap<object, RequestAccess>();

export function setPrincipal(request: FastifyRequest, principal: Principal): void {
  accessByRequest.set(request, { principal, resources: new Map() });
  addRequestFacts(request, { organizationId: principal.organizationId });
}

/** Undefined on public routes and before authentication. */
export function requestAccess(request: object): RequestAccess | undefined {
  return accessByRequest.get(request);
}

/** Undefined on public routes and before authentication. */
export function principalOf(request: object): Principal | undefined {
  return requestAccess(request)?.principal;
}

function accessOf(context: ExecutionContext): RequestAccess {
  const access = requestAccess(context.switchToHttp().getRequest<FastifyRequest>());
  if (!access) throw new Error('A public route asks for its caller');
  return access;
}

/** Handler parameter: the calling API key, on a route that does not accept session passes. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): ApiKeyPrincipal => {
  const { principal } = accessOf(context);
  if (principal.kind !== 'api_key')
    throw new Error('The route accepts session passes, so its handler must use @AnyCaller');
  return principal;
});

/** Handler parameter: the caller, on a route that accepts session passes. */
export const AnyCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Principal => accessOf(context).principal,
);

/**
 * Handler parameter: the result of the lookup of this kind. A path resource always exists; a body resource is undefined when the
 * body does not name one.
 */
export const Resource = createParamDecorator((kind: string, context: ExecutionContext) => {
  const found = accessOf(context).resources.get(kind);
  if (found === undefined) throw new Error(`The route does not declare a resource of the kind '${kind}'`);
  return found ?? undefined;
});
