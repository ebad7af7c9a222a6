import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { isPublicRoute } from '../../platform/http/index.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { ACCESS_DECLARATION, type AccessDeclaration, resourcesOf } from './access.decorator.js';

interface DeclaredRoute {
  /** `Controller.method` */
  readonly name: string;
  readonly declaration: AccessDeclaration | undefined;
  readonly isPublic: boolean;
}

/** Checks the declarations of all routes. The process does not start when one names a resource kind without a lookup. */
@Injectable()
export class RouteDeclarations implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly lookups: ResourceLookups,
  ) {}

  onApplicationBootstrap(): void {
    for (const { name, declaration } of this.routes()) {
      const unknown = declaration && resourcesOf(declaration).find(({ kind }) => !this.lookups.has(kind));
      if (unknown) throw new Error(`${name} names the resource kind '${unknown.kind}', which no context looks up`);
    }
  }

  /** Routes without a declaration, as `Controller.method`; the guard refuses every request to them. */
  undeclared(): string[] {
    return this.routes()
      .filter(({ declaration, isPublic }) => !declaration && !isPublic)
      .map(({ name }) => name);
  }

  private routes(): DeclaredRoute[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => {
      const controller = metatype as Type | null;
      return controller ? this.routesOf(controller) : [];
    });
  }

  private routesOf(controller: Type): DeclaredRoute[] {
    const prototype = controller.prototype as Record<string, () => unknown>;
    return this.scanner
      .getAllMethodNames(prototype)
      .map((method) => ({ method, handler: prototype[method] }))
      .flatMap(({ method, handler }) =>
        handler && Reflect.hasMetadata(METHOD_METADATA, handler)
          ? [
              {
                name: `${controller.name}.${method}`,
                declaration: this.reflector.get<AccessDeclaration | undefined>(ACCESS_DECLARATION, handler),
                isPublic: isPublicRoute(handler),
              },
            ]
          : [],
      );
  }
}
