import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { isPublicRoute } from '../../platform/http/index.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { accessDeclarationOf, resourcesOf } from './access.decorator.js';

interface Route {
  /** `Controller.method` */
  readonly name: string;
  readonly handler: () => unknown;
}

/** Checks the declarations of all routes. The process does not start when one names a resource kind without a lookup. */
@Injectable()
export class RouteDeclarations implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly lookups: ResourceLookups,
  ) {}

  onApplicationBootstrap(): void {
    for (const { name, handler } of this.routes()) {
      const declaration = accessDeclarationOf(handler);
      const unknown = declaration && resourcesOf(declaration).find(({ kind }) => !this.lookups.has(kind));
      if (unknown) throw new Error(`${name} names the resource kind '${unknown.kind}', which no context looks up`);
    }
  }

  /** Routes without a declaration, as `Controller.method`; the guard refuses every request to them. */
  undeclared(): string[] {
    return this.routes()
      .filter(({ handler }) => !accessDeclarationOf(handler) && !isPublicRoute(handler))
      .map(({ name }) => name);
  }

  private routes(): Route[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => {
      const prototype = metatype?.prototype as Readonly<Record<string, () => unknown>>;
      return this.scanner.getAllMethodNames(prototype).flatMap((method) => {
        const handler = prototype[method];
        const isRoute = handler !== undefined && Reflect.hasMetadata(METHOD_METADATA, handler);
        return isRoute ? [{ name: `${metatype?.name}.${method}`, handler }] : [];
      });
    });
  }
}
