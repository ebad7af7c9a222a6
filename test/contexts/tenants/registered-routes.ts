import { type DynamicModule, Module, Inject } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { ACCESS_DECLARATION, type AccessDeclaration } from '../../../src/access/http/access.decorator.js';

/** A route as the router has it. */
export interface RegisteredRoute {
  /** Such as `GET /v1/agents/:agentId`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Undefined where the route is public, or says nothing. */
  readonly declaration: AccessDeclaration | undefined;
}

/**
 * Notes every route at the moment the router learns of it, whoever registers it: nothing that answers
 * requests can be left out. `HEAD` stands beside every `GET`.
 */
export class RouteRecorder {
  private readonly recorded: RegisteredRoute[] = [];

  /** Goes among the service's modules: it must be made before the first route is. */
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
