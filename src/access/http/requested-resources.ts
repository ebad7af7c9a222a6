import type { FastifyRequest } from 'fastify';
import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import type { ResourceLookups, ResourceOfAgent } from '../application/resource-lookup.js';
import type { Principal } from '../domain/principal.js';
import {
  type AccessDeclaration,
  requestDeclarationOf,
  type ResourceReference,
  resourcesOf,
} from './access.decorator.js';
import { requestAccess } from './request-access.js';

interface FoundResource {
  readonly kind: string;
  readonly found: ResourceOfAgent | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** The resources that one request names, each looked up at most once. */
export class RequestedResources {
  private static readonly byRequest = new WeakMap<FastifyRequest, RequestedResources>();

  private readonly lookedUp = new Map<ResourceReference, Promise<ResourceOfAgent | null>>();
  private readonly references: readonly ResourceReference[];

  private constructor(
    readonly declaration: AccessDeclaration,
    private readonly lookups: ResourceLookups,
    private readonly request: FastifyRequest,
    readonly principal: Principal,
  ) {
    this.references = resourcesOf(declaration);
  }

  /** One instance for all guards of a request, which must be authenticated and on a route with a declaration. */
  static of(request: FastifyRequest, lookups: ResourceLookups): RequestedResources {
    let resources = this.byRequest.get(request);
    if (!resources) {
      const access = requestAccess(request);
      const declaration = requestDeclarationOf(request);
      if (!access || !declaration) throw new Error('The request reached the guard without having been authenticated');
      resources = new RequestedResources(declaration, lookups, request, access.principal);
      this.byRequest.set(request, resources);
    }
    return resources;
  }

  /** The agent of the first resource; null when the request names none of the organization. */
  async agentId(): Promise<string | null> {
    const [first] = this.references;
    return (first && (await this.find(first)))?.agentId ?? null;
  }

  /** Headers of the resources for a refusal by `BudgetGuard`, which precedes the lookup. Failed lookups are ignored. */
  async headersOfRefusal(): Promise<Readonly<Record<string, string>>> {
    const headers = this.references.map(async (reference) => this.headersOf(reference, await this.find(reference)));
    const settled = await Promise.allSettled(headers);
    return Object.assign({}, ...settled.map((each) => (each.status === 'fulfilled' ? each.value : {}))) as Record<
      string,
      string
    >;
  }

  /**
   * All resources that the request names.
   * @throws ValidationFailed when a path id is not a UUID; the error of the lookup when the resource does not exist
   */
  async findAll(): Promise<readonly FoundResource[]> {
    const all: FoundResource[] = [];
    for (const reference of this.references) {
      const found = await this.require(reference);
      all.push({ kind: reference.kind, found, headers: this.headersOf(reference, found) });
    }
    return all;
  }

  private headersOf({ kind }: ResourceReference, found: ResourceOfAgent | null): Readonly<Record<string, string>> {
    return found ? this.lookups.of(kind).headersOf(found) : {};
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
      found = this.lookups.of(reference.kind).find(this.principal.organizationId, id);
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
