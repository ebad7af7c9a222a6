import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../errors/index.js';
import { PublicRoute } from '../public-route.js';
import { DOCS_PAGE, DOCS_SCRIPT, DOCS_STYLE } from './docs.page.js';
import { OpenApiDocument } from './open-api-document.js';

const SWAGGER_FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

interface Asset {
  readonly type: string;
  readonly content: () => Promise<Buffer>;
}

const text = (content: string) => () => Promise.resolve(Buffer.from(content));
const file = (name: string) => () => readFile(join(SWAGGER_FOLDER, name));

/** Only these are served, so that the name in the path never becomes a path on the disk. */
const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ['page.css', { type: 'text/css; charset=utf-8', content: text(DOCS_STYLE) }],
  ['page.js', { type: 'text/javascript; charset=utf-8', content: text(DOCS_SCRIPT) }],
  ['swagger-ui.css', { type: 'text/css; charset=utf-8', content: file('swagger-ui.css') }],
  ['swagger-ui-bundle.js', { type: 'text/javascript; charset=utf-8', content: file('swagger-ui-bundle.js') }],
  ['favicon-32x32.png', { type: 'image/png', content: file('favicon-32x32.png') }],
]);

/** Serves the OpenAPI document, and a page to read it on. */
@ApiTags('Service')
@Controller()
export class DocsController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('v1/openapi.json')
  @PublicRoute()
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ operationId: 'getOpenApiDocument', summary: 'This document' })
  @ApiOkResponse({ description: 'The OpenAPI 3.1 document.', schema: { type: 'object' } })
  openApi(): string {
    return this.document.json();
  }

  @Get('docs')
  @PublicRoute()
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', POLICY)
  @ApiExcludeEndpoint()
  page(): string {
    return DOCS_PAGE;
  }

  @Get('docs/assets/:name')
  @PublicRoute()
  @Header('cache-control', 'public, max-age=86400')
  @ApiExcludeEndpoint()
  async asset(@Param('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer> {
    const asset = ASSETS.get(name);
    if (!asset) throw new DomainError('not_found', 'There is no such file.');
    void reply.type(asset.type);
    return asset.content();
  }
}
