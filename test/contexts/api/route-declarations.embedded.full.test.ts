import { Controller, Get, Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { RouteDeclarations } from '../../../src/access/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { RouteRecorder } from '../tenants/registered-routes.js';
import { send } from '../tenants/requests.js';
import { ROUTE_TABLE, routeCase } from '../tenants/route-table.js';
import { createWorld, startTenants, type World } from '../tenants/world.js';
import { documentPath, DocumentedSchemas, type OpenApi } from '../../support/documented-schemas.js';

/** Pages and files for people, which are not part of the interface for programs. */
const NOT_INTERFACE = new Set(['GET /docs', 'GET /docs/assets/:name', 'GET /widget.js', 'GET /widget-:name.js']);

const recorder = new RouteRecorder();
let service: TestService;
let schemas: DocumentedSchemas;
beforeAll(async () => {
  ({ service } = await startTenants({ extensions: { imports: [recorder.module] } }));
  schemas = new DocumentedSchemas((await service.http<OpenApi>('GET', '/v1/openapi.json')).body);
});
afterAll(() => service.close());

describe('the access of a route', () => {
  it('is declared by every route of the service', () => {
    expect(service.app.get(RouteDeclarations).undeclared()).toEqual([]);
  });

  it('is reported as missing when a controller does not declare it, and every request is refused', async () => {
    @Controller('v1/planted')
    class PlantedController {
      @Get()
      silent(): object {
        return { open: true };
      }
    }
    @Module({ controllers: [PlantedController] })
    class PlantedModule {}
    const planted = await startService({ extensions: { imports: [PlantedModule] } });
    expect(planted.app.get(RouteDeclarations).undeclared()).toEqual(['PlantedController.silent']);
    const { key } = await planted.organization();
    expect((await planted.http('GET', '/v1/planted', { key })).status).toBe(403);
    expect((await planted.http('GET', '/v1/planted')).status).toBe(403);
    await planted.close();
  });
});

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 of the interface’s version', async () => {
    const { document } = schemas;
    expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: { version: '1.0.0' } });
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('has exactly the routes of the service, each once', () => {
    const served = recorder.routes.map(({ name }) => name).filter((name) => !NOT_INTERFACE.has(name));
    const documented = operations().map(([name]) => name);
    expect(documented.sort()).toEqual(served.map(documentPath).sort());
  });

  it('contains the declaration of each route', () => {
    for (const { name, declaration } of recorder.routes) {
      if (NOT_INTERFACE.has(name)) continue;
      const operation = schemas.operation(name);
      expect({ name, scope: operation?.['x-scope'], pass: operation?.['x-session-pass'] }).toEqual({
        name,
        scope: declaration?.scope ?? 'none',
        pass: declaration?.sessionPass,
      });
    }
  });

  it('names each operation once', () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has no reference to a missing schema', () => {
    const text = JSON.stringify(schemas.document);
    const references = [...text.matchAll(/"(#\/[^"]+)"/g)].map(([, reference = '']) => reference);
    expect(references.length).toBeGreaterThan(50);
    for (const reference of new Set(references)) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((node, token) => (node as Record<string, unknown> | undefined)?.[token], schemas.document);
      expect({ reference, found: typeof found }).toEqual({ reference, found: 'object' });
    }
  });

  it('names every parameter of a path', () => {
    for (const [name, { parameters = [] }] of operations()) {
      const named = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
      const documented = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
      expect({ name, documented: documented.sort() }).toEqual({ name, documented: named.sort() });
    }
  });
});

describe('the response is as documented', () => {
  let shared: World;
  beforeAll(async () => {
    shared = await createWorld(service);
  });

  it.each(Object.keys(ROUTE_TABLE).filter((name) => !NOT_INTERFACE.has(name)))('%s', async (name) => {
    const { requests, status, spoils } = routeCase(name);
    const world = spoils ? await createWorld(service) : shared;
    for (const make of requests) {
      const request = make(world);
      expect(schemas.operation(name)?.parameters ?? []).toEqual(
        expect.arrayContaining(
          Object.keys(request.query ?? {}).map((parameter) =>
            expect.objectContaining({ name: parameter, in: 'query' }),
          ),
        ),
      );
      if (request.body !== undefined) expect(schemas.allowsBody(name, request.body)).toBe(true);
      const answer = await send(service, name, request, world.key);
      expect({ status: answer.status, text: answer.status === status ? '' : answer.text }).toEqual({
        status,
        text: '',
      });
      expect(schemas.wrongAnswer(name, answer.status, answer.headers, answer.text)).toBeUndefined();
    }
  });
});

/** By method and path as the document has them. */
function operations(): [string, OpenApi['paths'][string][string]][] {
  return Object.entries(schemas.document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, typeof operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}
