import type { FastifyRequest } from 'fastify';
import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import type { ResourceLookups, ResourceOfAgent } from '../application/resource-lookup.js';
import { type AccessDeclaration, type ResourceReference, resourcesOf } from './access.decorator.js';

/** The resources that one request names, each looked up at most once. */
export class RequestedResources {
  private readonly looked = new Map<ResourceReference, Promise<ResourceOfAgent | null>>();
  private readonly references: readonly ResourceReference[];

  constructor(
    declaration: AccessDeclaration,
    private readonly lookups: ResourceLookups,
    private readonly request: FastifyRequest,
    private readonly organizationId: string,
  ) {
    this.references = resourcesOf(declaration);
  }

  /** The agent that the first resource belongs to; null when it names none of the organization. */
  async agentId(): Promise<string | null> {
    const [first] = this.references;
    return (first && (await this.find(first)))?.agentId ?? null;
  }

  /**
   * Everything the request names, by kind.
   * @throws ValidationFailed when a path id is no UUID; the look-up's own error when there is no such resource
   */
  async findAll(): Promise<ReadonlyMap<string, ResourceOfAgent | null>> {
    const found = new Map<string, ResourceOfAgent | null>();
    for (const reference of this.references) found.set(reference.kind, await this.require(reference));
    return found;
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
    if (id === null) return Promise.resolve(null);
    let found = this.looked.get(reference);
    if (!found) {
      found = this.lookups.of(reference.kind).find(this.organizationId, id);
      this.looked.set(reference, found);
    }
    return found;
  }

  /** In lower case, as ids are stored; null unless it is well-formed. */
  private idOf({ in: place, field, otherwise }: ResourceReference): string | null {
    const holder: unknown = place === 'path' ? this.request.params : this.request.body;
    if (typeof holder !== 'object' || holder === null) return null;
    const name = [field, otherwise].find((candidate) => candidate !== undefined && Object.hasOwn(holder, candidate));
    if (name === undefined) return null;
    const id: unknown = (holder as Record<string, unknown>)[name];
    return isUuid(id) ? id.toLowerCase() : null;
  }
}
