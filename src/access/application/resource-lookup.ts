import { Injectable } from '@nestjs/common';
import type { DomainError } from '../../platform/errors/index.js';

/** What every looked-up resource tells the guard: the agent it belongs to (an agent: its own id). */
export interface ResourceOfAgent {
  readonly agentId: string;
}

/**
 * How the guard finds a resource that a route names, implemented by the context that owns it. Found
 * once per request, before the handler, which reads it with `@Resource(kind)`.
 */
export abstract class ResourceLookup<Found extends ResourceOfAgent = ResourceOfAgent> {
  /** The name routes use: `agent`, `thread`. */
  abstract readonly kind: string;

  /**
   * @param id a well-formed UUID in lower case
   * @returns null when the organization has no such resource, also when another organization has
   */
  abstract find(organizationId: string, id: string): Promise<Found | null>;

  /** Headers that every answer carries, refusals too, once the resource is found. */
  headersOf(_found: Found): Readonly<Record<string, string>> {
    return {};
  }

  /** The error for a resource that `find` does not know. */
  abstract absent(id: string): DomainError;
}

/** The look-ups of all contexts; each registers its own in `onModuleInit`. */
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
