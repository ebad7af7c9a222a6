import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  AddRouteConfig,
  type AnswerHeader,
  ApiAnswerHeader,
  ApiUuidParam,
  RATE_LIMIT_HEADERS,
} from '../../platform/http/index.js';
import type { Capability } from '../domain/capability.js';
import type { Principal } from '../domain/principal.js';

/** A resource that a route names by its id; its `kind` is that of a registered `ResourceLookup`. */
export interface ResourceReference {
  readonly kind: string;
  readonly in: 'path' | 'body';
  readonly field: string;
  /** The field that names it where `field` is absent. */
  readonly otherwise?: string;
}

/** Who may call a route. */
export interface AccessDeclaration {
  /** The capability the caller needs; also the operation's `x-scope`. */
  readonly scope: Capability | 'none';
  /** Concerns the organization as a whole: closed to keys with an agent allowlist. */
  readonly level?: 'organization';
  /** Must exist in the caller's organization and belong to an agent the caller may use. At most one of a kind. */
  readonly resource?: ResourceReference | readonly ResourceReference[];
  /**
   * The budget that a request counts against: `chat` and `sessions`, of the organization and the first resource's agent;
   * `sessionRefresh`, `traces` and `traceExport`, of the organization.
   */
  readonly rateLimit?: 'chat' | 'sessions' | 'sessionRefresh' | 'traces' | 'traceExport';
  /** A session pass is accepted too, for its own conversation. */
  readonly sessionPass?: true;
}

/** Key of the declaration in Nest's metadata and in Fastify's route configuration alike. */
export const ACCESS_DECLARATION = 'access:declaration';

/**
 * Declares who may call a route; every route carries this or `@PublicRoute()`, and a route without
 * either is refused. Read by the guard, by authentication (before the body) and by the OpenAPI document.
 */
export function Access(declaration: AccessDeclaration): MethodDecorator {
  const resources = resourcesOf(declaration);
  const kinds = resources.map(({ kind }) => kind);
  if (new Set(kinds).size !== kinds.length)
    throw new Error(`A route names two resources of one kind: ${kinds.join(', ')}`);
  return applyDecorators(
    SetMetadata(ACCESS_DECLARATION, declaration),
    AddRouteConfig({ [ACCESS_DECLARATION]: declaration }),
    ApiExtension('x-scope', declaration.scope),
    ...budgetHeaders(declaration).map(ApiAnswerHeader),
    ...(declaration.sessionPass ? [ApiExtension('x-session-pass', true)] : []),
    // A handler that takes the resource itself names no parameter, and the document would lack it.
    ...resources.flatMap(({ in: place, field: name }) => (place === 'path' ? [ApiUuidParam(name)] : [])),
  );
}

/** A route without a budget of its own that is open to session passes tells those of theirs. */
function budgetHeaders({ rateLimit, sessionPass }: AccessDeclaration): readonly AnswerHeader[] {
  if (rateLimit !== undefined) return RATE_LIMIT_HEADERS;
  return sessionPass ? RATE_LIMIT_HEADERS.map((header) => ({ ...header, optional: true })) : [];
}

/** What `@Access` has declared for a handler; undefined on public routes. */
export function accessDeclarationOf(handler: object): AccessDeclaration | undefined {
  return Reflect.getMetadata(ACCESS_DECLARATION, handler) as AccessDeclaration | undefined;
}

/** The same for the route that a request has matched, before its handler is known. */
export function requestDeclarationOf(request: FastifyRequest): AccessDeclaration | undefined {
  return Reflect.get(request.routeOptions.config, ACCESS_DECLARATION) as AccessDeclaration | undefined;
}

/** Whether the kind of credential may call the route at all: to a session pass one that does not name it is closed. */
export function isOpenTo({ sessionPass }: AccessDeclaration, { kind }: Principal): boolean {
  return kind === 'api_key' || sessionPass === true;
}

/** A resource named by a path parameter. */
export function pathResource(kind: string, parameter: string): ResourceReference {
  return { kind, in: 'path', field: parameter };
}

/**
 * A resource named by a field of the JSON body; looked up only where the field holds a well-formed UUID.
 * @param otherwise the field that names it in a body without `field`
 */
export function bodyResource(kind: string, field: string, otherwise?: string): ResourceReference {
  return { kind, in: 'body', field, ...(otherwise === undefined ? {} : { otherwise }) };
}

export function resourcesOf(declaration: AccessDeclaration): readonly ResourceReference[] {
  const { resource } = declaration;
  if (resource === undefined) return [];
  return 'kind' in resource ? [resource] : resource;
}
