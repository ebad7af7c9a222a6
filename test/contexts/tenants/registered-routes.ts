import { type DynamicModule, Module, Inject } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { ACCESS_DECLARATION, type AccessDeclaration } from '../../../src/access/http/access.decorator.js';

/** A route of the router. */
export interface RegisteredRoute {
  /** Such as `GET /v1/agents/:agentId`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Undefined when the route is public or has no declaration. */
  readonly declaration: AccessDeclaration | undefined;
}

/**
 * Records every route when it is registered with the router, by any code, so that no route is missing. Fastify adds a `HEAD` route
 * for every `GET`.
 */
export class RouteRecorder {
  private readonly recorded: RegisteredRoute[] = [];

  /** A module of the service, which Nest creates before the first route. */
  get module(): DynamicModule {
    const note = (route: RouteOptions): void => {
      for (const method of [route.method].flat()) {
        const config = (route.config ?? {}) as Readonly<Record<string, unknown>>;
        this.recorded.push({
          name: `${method} ${route.url}`,
          method,
          path: route.url,
          declaration: config[ACCESS_DECLARATION] as AccessDeclaration | undefined,
        });
      }
    };

    @Module({})
    class RecorderModule {
      constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
        host.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', note);
      }
    }
    return { module: RecorderModule };
  }

  /** Without `HEAD`. */
  get routes(): readonly RegisteredRoute[] {
    return this.recorded.filter(({ method }) => method !== 'HEAD');
  }

  get heads(): readonly RegisteredRoute[] {
    return this.recorded.filter(({ method }) => method === 'HEAD');
  }
}
