import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ValidationFailed } from '../../platform/errors/index.js';
import { AttachedValue } from '../../platform/heap/index.js';
import { addRequestFacts } from '../../platform/http/index.js';
import { isUuid } from '../../platform/ids/index.js';
import type { ResourceLookups, ResourceOfAgent } from '../application/resource-lookup.js';
import type { ApiKeyPrincipal, Principal } from '../domain/principal.js';
import { type AccessDeclaration, type ResourceReference, resourcesOf } from './access.decorator.js';

/** The caller of one request and the resources that it names, each looked up at most once. */
export class RequestAccess {
  /** The results of `AccessGuard`, by kind. Null when the body names no valid id, which the validation of the body reports. */
  readonly resources = new Map<string, ResourceOfAgent | null>();
  private readonly lookedUp = new Map<ResourceReference, Promise<ResourceOfAgent | null>>();

  constructor(
    readonly principal: Principal,
    private readonly declaration: AccessDeclaration,
    private readonly request: FastifyRequest,
    private readonly lookups: ResourceLookups,
  ) {}

  /** The agent of the first resource; null when the request names none of the organization. */
  async agentId(): Promise<string | null> {
    const [first] = resourcesOf(this.declaration);
    return (first && (await this.find(first)))?.agentId ?? null;
  }

  /**
   * All resources that the request names; null when the body names no valid id.
   * @throws ValidationFailed when a path id is not a UUID; the error of the lookup when the resource does not exist
   */
  async requireAll(): Promise<ReadonlyMap<ResourceReference, ResourceOfAgent | null>> {
    const all = new Map<ResourceReference, ResourceOfAgent | null>();
    for (const reference of resourcesOf(this.declaration)) all.set(reference, await this.require(reference));
    return all;
  }

  headersOf({ kind }: ResourceReference, found: ResourceOfAgent | null): Readonly<Record<string, string>> {
    return found ? this.lookups.of(kind).headersOf(found) : {};
  }

  /** Headers of the resources for a refusal by `BudgetGuard`, which precedes the lookup. Failed lookups are ignored. */
  async headersOfRefusal(): Promise<Readonly<Record<string, string>>> {
    const headers: Record<string, string> = {};
    for (const reference of resourcesOf(this.declaration)) {
      Object.assign(headers, this.headersOf(reference, await this.find(reference).catch(() => null)));
    }
    return headers;
  }

  private async require(reference: ResourceReference): Promise<ResourceOfAgent | null> {
    const id = this.idOf(reference);
    if (id === null) {
      if (reference.in === 'body') return null;
      throw new ValidationFailed(`params/${reference.field} must be a UUID`);
    }
    const found = await this.find(reference);
    if (!found) throw this.lookups.of(reference.kind).absent(id);
    return found;
  }

  private find(reference: ResourceReference): Promise<ResourceOfAgent | null> {
    const id = this.idOf(reference);
    if (id === null || !isVisible(this.principal, reference, id)) return Promise.resolve(null);
    let found = this.lookedUp.get(reference);
    if (!found) {
      const { kind, checkedByHandler = false } = reference;
      found = this.lookups.of(kind).find(this.principal.organizationId, id, checkedByHandler);
      this.lookedUp.set(reference, found);
    }
    return found;
  }

  /** In lower case, as ids are stored; null when it is not well-formed. */
  private idOf({ in: place, field, fallbackField }: ResourceReference): string | null {
    const holder: unknown = place === 'path' ? this.request.params : this.request.body;
    if (typeof holder !== 'object' || holder === null) return null;
    const name = [field, fallbackField].find(
      (candidate) => candidate !== undefined && Object.hasOwn(holder, candidate),
    );
    if (name === undefined) return null;
    const id: unknown = (holder as Record<string, unknown>)[name];
    return isUuid(id) ? id.toLowerCase() : null;
  }
}

/** For a session pass only its own conversation exists. */
function isVisible(principal: Principal, { kind }: ResourceReference, id: string): boolean {
  return principal.kind === 'api_key' || (kind === 'thread' && id === principal.threadId);
}

const accessOfRequest = new AttachedValue<object, RequestAccess>();

export function setAccess(request: FastifyRequest, access: RequestAccess): void {
  accessOfRequest.set(request, access);
  addRequestFacts(request, { organizationId: access.principal.organizationId });
}

/** Undefined on public routes and before authentication. */
export function principalOf(request: object): Principal | undefined {
  return accessOfRequest.get(request)?.principal;
}

/** @throws Error on public routes and before authentication */
export function accessOf(context: ExecutionContext): RequestAccess {
  const access = accessOfRequest.get(context.switchToHttp().getRequest<FastifyRequest>());
  if (!access) throw new Error('The request is not authenticated, or its route is public');
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
