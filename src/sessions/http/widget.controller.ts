import { negotiate } from '@fastify/accept-negotiator';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { PublicRoute } from '../../platform/http/index.js';
import { type Encoding, ENCODINGS, type WidgetFile, widgetFiles } from './widget-files.js';

/** Pages that name no version get a new one within five minutes. */
const SHORT = 'public, max-age=300, must-revalidate';
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The browser widget. Any page may load it: it has no secret and sets no cookie. */
@ApiExcludeController()
@Controller()
export class WidgetController {
  @Get('widget.js')
  @PublicRoute()
  latest(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Buffer | undefined> {
    return answer(request, reply, widgetFiles().entry, SHORT);
  }

  /** The entry of a version, or a chunk. The content of neither ever changes. */
  @Get('widget-:name.js')
  @PublicRoute()
  named(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const file = widgetFiles().named.get(name);
    if (!file) {
      // Another replica may have the file, so that no cache may keep the answer.
      void reply.header('cache-control', 'no-store');
      throw new DomainError('not_found', absence(name));
    }
    return answer(request, reply, file, FOR_EVER);
  }
}

function absence(name: string): string {
  const { version } = widgetFiles();
  if (/^\d/.test(name))
    return `This service has the widget in version ${version}: /widget-${version}.js, or /widget.js for the latest.`;
  return `The widget in version ${version} has no such part: the page has the widget of another release. Reload the page.`;
}

async function answer(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: WidgetFile,
  caching: string,
): Promise<Buffer | undefined> {
  void reply.headers({
    'cache-control': caching,
    etag: file.etag,
    vary: 'accept-encoding',
    'x-widget-version': widgetFiles().version,
    'x-content-type-options': 'nosniff',
    // Lets cross-origin isolated pages load it.
    'cross-origin-resource-policy': 'cross-origin',
  });
  if (matchesEtag(headers['if-none-match'], file.etag)) {
    void reply.code(304);
    return undefined;
  }
  const encoding = negotiateEncoding(headers['accept-encoding']);
  if (encoding !== 'identity') void reply.header('content-encoding', encoding);
  void reply.type('text/javascript; charset=utf-8');
  return file.in(encoding);
}

/** A client that accepts none of the encodings gets the file uncompressed. */
function negotiateEncoding(accepted: string | string[] | undefined): Encoding {
  return negotiate(String(accepted ?? 'identity'), [...ENCODINGS]) ?? 'identity';
}

/** The header may list several tags. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*') ?? false;
}
