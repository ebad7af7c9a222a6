import { negotiate } from '@fastify/accept-negotiator';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { PublicRoute } from '../../platform/http/index.js';
import { ENCODINGS, type Encoding, widgetFile, widgetScript } from './widget-file.js';

/** Pages that name no version get a new one within minutes. */
const SHORT = 'public, max-age=300, must-revalidate';
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The browser widget, for any page: it holds no secret and sets no cookie. */
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
      // A page that isolates itself may load it all the same.
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (isKnown(headers['if-none-match'], etag)) {
      void reply.code(304);
      return undefined;
    }
    const encoding = encodingOf(headers['accept-encoding']);
    if (encoding !== 'identity') void reply.header('content-encoding', encoding);
    void reply.type('text/javascript; charset=utf-8');
    return widgetScript(encoding);
  }
}

/** Whoever accepts none of them gets the file as it is: there is no better answer. */
function encodingOf(accepted: string | string[] | undefined): Encoding {
  return negotiate(String(accepted ?? 'identity'), [...ENCODINGS]) ?? 'identity';
}

/** A proxy that compresses makes a strong tag weak, and a cache may name several. */
function isKnown(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*') ?? false;
}
