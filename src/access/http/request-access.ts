import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { noteOn } from '../../platform/http/index.js';
import type { ResourceOfAgent } from '../application/resource-lookup.js';
import type { ApiKeyPrincipal, Principal } from '../domain/principal.js';

/** What authentication and the guard have learned about one request. */
export interface RequestAccess {
  readonly principal: Principal;
  /** By kind; null where the body names none, so that its schema decides. */
  readonly resources: Map<string, ResourceOfAgent | null>;
}

const accessByRequest = new WeakMap<object, RequestAccess>();

export function admit(request: FastifyRequest, principal: Principal): void {
  accessByRequest.set(request, { principal, resources: new Map() });
  noteOn(request, { organizationId: principal.organizationId });
}

/** Undefined on public routes and before authentication. */
export function requestAccess(request: object): RequestAccess | undefined {
  return accessByRequest.get(request);
}

/** Who makes the request, for the log; undefined on public routes. */
export function principalOf(request: object): Principal | undefined {
  return accessByRequest.get(request)?.principal;
}

function accessOf(context: ExecutionContext): RequestAccess {
  const access = requestAccess(context.switchToHttp().getRequest<FastifyRequest>());
  if (!access) throw new Error('A public route asks for its caller');
  return access;
}

/** Handler parameter: the API key that calls, as `ApiKeyPrincipal`; of a route that is closed to session passes. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): ApiKeyPrincipal => {
  const { principal } = accessOf(context);
  if (principal.kind !== 'api_key')
    throw new Error('A route that takes its caller for an API key is open to session passes');
  return principal;
});

/** Handler parameter: whoever calls, as `Principal`; of a route that is open to session passes. */
export const AnyCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Principal => accessOf(context).principal,
);

/**
 * Handler parameter: what the look-up of this kind found. A path resource is always there; a body
 * resource is undefined where the body does not name one.
 */
export const Resource = createParamDecorator((kind: string, context: ExecutionContext) => {
  const found = accessOf(context).resources.get(kind);
  if (found === undefined) throw new Error(`The route does not declare a resource of the kind '${kind}'`);
  return found ?? undefined;
});
