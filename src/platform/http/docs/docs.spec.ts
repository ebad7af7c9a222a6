import type { AddressInfo } from 'node:net';
import { Body, Controller, Get, Global, Module, Post, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock, SystemClock } from '../../clock/index.js';
import { readSettings, Settings } from '../../config/index.js';
import { createLogger, TelemetryModule } from '../../telemetry/index.js';
import { createHttpApp } from '../create-http-app.js';
import { JsonObjectField, LiteralField, QueryIntegerField, StringField, UnionField } from '../fields.js';
import { HttpModule } from '../http.module.js';
import { UuidParam } from '../params.js';
import { ApiCauses, ApiErrors } from './api-errors.js';

class Circle {
  @LiteralField('circle')
  type!: 'circle';
}

class Square {
  @LiteralField('square')
  type!: 'square';
}

class NoteBody {
  @StringField({ min: 1, max: 20, nullable: true, description: 'What it says.' })
  text!: string | null;

  @JsonObjectField({ optional: true })
  extra?: Record<string, unknown>;

  @UnionField('type', { circle: () => Circle, square: () => Square }, { optional: true })
  shape?: Circle | Square;
}

class PageQuery {
  @QueryIntegerField({ optional: true, min: 1, max: 100 })
  limit = 50;
}

@Controller('v1/notes')
class NotesController {
  @Post()
  @ApiCreatedResponse({ type: NoteBody })
  @ApiErrors(404)
  @ApiCauses(409, 'note_exists')
  create(@Body() body: NoteBody): NoteBody {
    return body;
  }

  @Get()
  list(@Query() query: PageQuery): PageQuery {
    return query;
  }

  @Get(':noteId')
  read(@UuidParam('noteId') noteId: string): { noteId: string } {
    return { noteId };
  }
}

const settings = readSettings({ LOG_LEVEL: 'silent' }, { role: 'all', demo: false });
const logger = createLogger(settings);

@Global()
@Module({
  providers: [
    { provide: Settings, useValue: settings },
    { provide: Clock, useClass: SystemClock },
  ],
  exports: [Settings, Clock],
})
class KernelModule {}

@Module({
  imports: [KernelModule, TelemetryModule.forRoot(settings, logger), HttpModule],
  controllers: [NotesController],
})
class RootModule {}

let app: NestFastifyApplication;
let base: string;

beforeAll(async () => {
  app = await createHttpApp({ rootModule: RootModule, settings, logger });
  await app.listen(0, '127.0.0.1');
  base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
});

afterAll(() => app.close());

async function read(path: string) {
  const response = await fetch(`${base}${path}`);
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

describe('without a credential, the service', () => {
  it('reports that the process runs and is ready', async () => {
    expect(await read('/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await read('/health/ready')).toMatchObject({
      status: 200,
      body: { status: 'ok', checks: { database: 'ok' } },
    });
  });

  it('describes the interface in OpenAPI 3.1', async () => {
    const { status, headers, body } = await read('/v1/openapi.json');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    expect(body.components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
    expect(body.components.schemas.NoteBody).toMatchObject({
      required: ['text'],
      properties: {
        text: { type: ['string', 'null'], minLength: 1, maxLength: 20, description: 'What it says.' },
        shape: {
          oneOf: [{ $ref: '#/components/schemas/Circle' }, { $ref: '#/components/schemas/Square' }],
          discriminator: { propertyName: 'type' },
        },
      },
    });
    expect(body.paths['/v1/notes'].get.parameters).toMatchObject([
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } },
    ]);
    expect(body.paths['/v1/notes/{noteId}'].get.parameters).toEqual([
      { name: 'noteId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
    ]);
    expect(body.paths['/v1/notes'].post.responses['401'].content['application/json'].schema.$ref).toBe(
      '#/components/schemas/Error',
    );
    expect(Object.keys(body.paths['/v1/notes'].post.responses)).toEqual([
      ...['201', '400', '401', '403', '404', '409', '413', '415', '429', '500', '503'],
    ]);
    expect(body.paths['/v1/notes'].post.operationId).toBe('createNotes');
    expect(body.paths['/health/live'].get.security).toEqual([]);
    expect(JSON.stringify(body)).not.toContain('x-public-route');
    const refs = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(Object.keys(body.components.schemas)).toEqual(expect.arrayContaining(refs));
  });

  it('serves a page that loads every file from the service', async () => {
    const page = await fetch(`${base}/docs`);
    const html = await page.text();
    expect(page.status).toBe(200);
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      expect(file).not.toMatch(/^(https?:)?\/\//);
      const response = await fetch(`${base}/${file}`);
      expect(response.status).toBe(200);
      // A response that is not read keeps its connection open, and the worker of jest alive.
      await response.body?.cancel();
    }
    for (const name of ['..%2Fpackage.json', 'index.html', 'constructor']) {
      expect((await read(`/docs/assets/${name}`)).body).toMatchObject({ statusCode: 404, error: 'not_found' });
    }
  });
});
