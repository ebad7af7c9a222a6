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
  /** The field to read when `field` is absent. */
  readonly fallbackField?: string;
  /** The handler's statements refuse a resource that was deleted, so the lookup may answer from memory. */
  readonly checkedByHandler?: true;
}

/** Who may call a route. */
export interface AccessDeclaration {
  /** The capability that the caller needs; also the operation's `x-scope`. */
  readonly scope: Capability | 'none';
  /** The route concerns the whole organization: keys with an agent allowlist are refused. */
  readonly level?: 'organization';
  /** Each must exist in the caller's organization and belong to an agent that the caller may use. At most one of a kind. */
  readonly resource?: ResourceReference | readonly ResourceReference[];
  /**
   * The budget that a request counts against: `chat` and `sessions` are budgets of the organization and the first resource's
   * agent, `sessionRefresh`, `traces` and `traceExport` of the organization.
   */
  readonly rateLimit?: 'chat' | 'sessions' | 'sessionRefresh' | 'traces' | 'traceExport';
  /** The route also accepts a session pass, for its own conversation. */
  readonly sessionPass?: true;
}

/** The key of the declaration in Nest's metadata and in Fastify's route configuration. */
export const ACCESS_DECLARATION = 'access:declaration';

/**
 * Declares who may call a route. Every route has this or `@PublicRoute()`; requests to a route with neither are refused. The
 * guard, authentication (before the body is read) and the OpenAPI document use the declaration.
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
    // A handler that takes the resource has no decorator for the path parameter, which the document would then lack.
    ...resources.flatMap(({ in: place, field: name }) => (place === 'path' ? [ApiUuidParam(name)] : [])),
  );
}

/** On a route without a budget, requests with a session pass still count against the budget of their session. */
function budgetHeaders({ rateLimit, sessionPass }: AccessDeclaration): readonly AnswerHeader[] {
  if (rateLimit !== undefined) return RATE_LIMIT_HEADERS;
  return sessionPass ? RATE_LIMIT_HEADERS.map((header) => ({ ...header, optional: true })) : [];
}

/** Undefined on public routes. */
export function accessDeclarationOf(handler: object): AccessDeclaration | undefined {
  return Reflect.getMetadata(ACCESS_DECLARATION, handler) as AccessDeclaration | undefined;
}

/** As `accessDeclarationOf`, for the route of a request, before Nest has found the handler. */
export function requestDeclarationOf(request: FastifyRequest): AccessDeclaration | undefined {
  return Reflect.get(request.routeOptions.config, ACCESS_DECLARATION) as AccessDeclaration | undefined;
}

/** Whether the route accepts this kind of credential. Session passes must be declared. */
export function acceptsCredential({ sessionPass }: AccessDeclaration, { kind }: Principal): boolean {
  return kind === 'api_key' || sessionPass === true;
}

/** A resource named by a path parameter. */
export function pathResource(kind: string, parameter: string): ResourceReference {
  return { kind, in: 'path', field: parameter };
}

/**
 * A resource named by a field of the JSON body. It is looked up only when the field is a well-formed UUID.
 * @param fallbackField the field to read when `field` is absent
 */
export function bodyResource(kind: string, field: string, fallbackField?: string): ResourceReference {
  return { kind, in: 'body', field, ...(fallbackField === undefined ? {} : { fallbackField }) };
}

export function resourcesOf(declaration: AccessDeclaration): readonly ResourceReference[] {
  const { resource } = declaration;
  if (resource === undefined) return [];
  return 'kind' in resource ? [resource] : resource;
}
