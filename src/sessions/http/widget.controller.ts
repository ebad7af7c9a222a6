import { negotiate } from '@fastify/accept-negotiator';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { PublicRoute } from '../../platform/http/index.js';
import { ENCODINGS, type Encoding, widgetFile, widgetScript } from './widget-file.js';

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
    return this.answer(request, reply, SHORT);
  }

  @Get('widget-:version.js')
  @PublicRoute()
  ofVersion(
    @Param('version') version: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const { version: current } = widgetFile();
    if (version !== current) {
      throw new DomainError(
        'not_found',
        `This service has the widget in version ${current}: /widget-${current}.js, or /widget.js for the latest.`,
      );
    }
    return this.answer(request, reply, FOR_EVER);
  }

  private async answer({ headers }: FastifyRequest, reply: FastifyReply, caching: string): Promise<Buffer | undefined> {
    const { version, etag } = widgetFile();
    void reply.headers({
      'cache-control': caching,
      etag,
      vary: 'accept-encoding',
      'x-widget-version': version,
      'x-content-type-options': 'nosniff',
      // Lets cross-origin isolated pages load it.
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (matchesEtag(headers['if-none-match'], etag)) {
      void reply.code(304);
      return undefined;
    }
    const encoding = negotiateEncoding(headers['accept-encoding']);
    if (encoding !== 'identity') void reply.header('content-encoding', encoding);
    void reply.type('text/javascript; charset=utf-8');
    return widgetScript(encoding);
  }
}

/** A client that accepts none of the encodings gets the file uncompressed. */
function negotiateEncoding(accepted: string | string[] | undefined): Encoding {
  return negotiate(String(accepted ?? 'identity'), [...ENCODINGS]) ?? 'identity';
}

/** The header may list several tags. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*') ?? false;
}
