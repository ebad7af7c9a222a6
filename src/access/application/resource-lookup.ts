import { Injectable } from '@nestjs/common';
import type { DomainError } from '../../platform/errors/index.js';

/** The agent that a resource belongs to, which the guard checks; for an agent, its own id. */
export interface ResourceOfAgent {
  readonly agentId: string;
}

/**
 * Finds a resource that a route names. The context that owns the resource implements it. The guard calls it once a request, and
 * the handler reads the result with `@Resource(kind)`.
 */
export abstract class ResourceLookup<Found extends ResourceOfAgent = ResourceOfAgent> {
  /** The name in route declarations: `agent`, `thread`. */
  abstract readonly kind: string;

  /**
   * @param id a well-formed UUID in lower case
   * @param mayBeDeleted the handler refuses a deleted resource itself, so the result may be minutes old
   * @returns null when the organization has no such resource
   */
  abstract find(organizationId: string, id: string, mayBeDeleted: boolean): Promise<Found | null>;

  /** Headers of every response to a request whose resource was found, refusals included. */
  headersOf(_found: Found): Readonly<Record<string, string>> {
    return {};
  }

  /** The error when `find` returns null. */
  abstract absent(id: string): DomainError;
}

/** The lookups of all contexts; each registers its own in a constructor. */
@Injectable()
export class ResourceLookups {
  private readonly byKind = new Map<string, ResourceLookup>();

  register(lookup: ResourceLookup): void {
    if (this.byKind.has(lookup.kind)) throw new Error(`Two contexts look up the resource kind '${lookup.kind}'`);
    this.byKind.set(lookup.kind, lookup);
  }

  has(kind: string): boolean {
    return this.byKind.has(kind);
  }

  of(kind: string): ResourceLookup {
    const lookup = this.byKind.get(kind);
    if (!lookup) throw new Error(`No context looks up the resource kind '${kind}'`);
    return lookup;
  }
}
