import { SetMetadata, applyDecorators } from '@nestjs/common';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';

const PUBLIC_ROUTE = 'http:public-route';
/** Marks the operation in the raw OpenAPI document; taken out again when the document is finished. */
export const PUBLIC_OPERATION = 'x-public-route';

/** Needs no credential. The mark is seen by guards, by `onRequest` hooks and by the OpenAPI document. */
export function PublicRoute(): MethodDecorator {
  return applyDecorators(
    SetMetadata(PUBLIC_ROUTE, true),
    AddRouteConfig({ [PUBLIC_ROUTE]: true }),
    ApiExtension(PUBLIC_OPERATION, true),
    ApiExtension('x-scope', 'none'),
  );
}

/** Adds to what `request.routeOptions.config` holds; Nest's own `RouteConfig` replaces it. */
export function AddRouteConfig(config: Readonly<Record<string, unknown>>): MethodDecorator {
  return (_target, _method, descriptor) => {
    const handler = descriptor.value as object;
    const before = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as object | undefined;
    Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, { ...before, ...config }, handler);
  };
}

/** For guards and reflection: whether the handler is declared public. */
export function isPublicRoute(handler: object, _controller?: object): boolean {
  return Reflect.getMetadata(PUBLIC_ROUTE, handler) === true;
}

/** For hooks: whether the matched route is declared public. False where no route matched. */
export function isPublicRequest(request: FastifyRequest): boolean {
  return (request.routeOptions.config as unknown as Record<string, unknown>)[PUBLIC_ROUTE] === true;
}
