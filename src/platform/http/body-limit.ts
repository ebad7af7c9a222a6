import type { FastifyInstance, RouteOptions } from 'fastify';
import { AddRouteConfig } from './public-route.js';

const LARGE_BODY = 'http:large-body';

/** Bytes of a JSON body by default, and on routes with `@LargeBody`, which take conversations and instructions. */
export const BODY_LIMIT = 4 * 1024 * 1024;
export const LARGE_BODY_LIMIT = 10 * 1024 * 1024;

/** The route takes JSON bodies of 10 MiB instead of 4. */
export function LargeBody(): MethodDecorator {
  return AddRouteConfig({ [LARGE_BODY]: true });
}

/** Call before the first route is registered. A body with a larger `Content-Length` is refused before it is read. */
export function limitBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route: RouteOptions) => {
    const config = route.config as unknown as Readonly<Record<string, unknown>> | undefined;
    route.bodyLimit = config?.[LARGE_BODY] === true ? LARGE_BODY_LIMIT : BODY_LIMIT;
  });
}
