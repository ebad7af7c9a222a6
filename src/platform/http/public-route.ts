import { SetMetadata, applyDecorators } from '@nestjs/common';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';

const PUBLIC_ROUTE = 'http:public-route';
/** Marks the operation in the raw OpenAPI document; `OpenApiDocument` removes the mark. */
export const PUBLIC_OPERATION = 'x-public-route';

/** The route needs no credential. Guards, `onRequest` hooks and the OpenAPI document use the mark. */
export function PublicRoute(): MethodDecorator {
  return applyDecorators(
    SetMetadata(PUBLIC_ROUTE, true),
    AddRouteConfig({ [PUBLIC_ROUTE]: true }),
    ApiExtension(PUBLIC_OPERATION, true),
    ApiExtension('x-scope', 'none'),
  );
}

/** Adds to `request.routeOptions.config`, which Nest's own `RouteConfig` replaces. */
export function AddRouteConfig(config: Readonly<Record<string, unknown>>): MethodDecorator {
  return (_target, _method, descriptor) => {
    const handler = descriptor.value as object;
    const before = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as object | undefined;
    Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, { ...before, ...config }, handler);
  };
}

/** For guards and reflection: whether the handler is declared public. */
export function isPublicRoute(handler: object): boolean {
  return Reflect.getMetadata(PUBLIC_ROUTE, handler) === true;
}

/** For hooks: whether the matched route is declared public. False when no route matches. */
export function isPublicRequest(request: FastifyRequest): boolean {
  return (request.routeOptions.config as unknown as Record<string, unknown>)[PUBLIC_ROUTE] === true;
}
