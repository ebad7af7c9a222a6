import { createHash } from 'node:crypto';
import { Controller, Get, Headers, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { PublicRoute } from '../../platform/http/index.js';
import { type WidgetFile, widgetFile } from './widget-file.js';

/** Pages that name no version get a new one within minutes. */
const SHORT = 'public, max-age=300, must-revalidate';
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The browser widget, for any page: it holds no secret and sets no cookie. */
@ApiExcludeController()
@Controller()
export class WidgetController {
  private etag: string | undefined;

  @Get('widget.js')
  @PublicRoute()
  latest(@Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): void {
    this.send(reply, SHORT, known);
  }

  @Get('widget-:version.js')
  @PublicRoute()
  ofVersion(@Param('version') version: string, @Headers('if-none-match') known: string | undefined, @Res() reply: FastifyReply): void {
    const { version: current } = widgetFile();
    if (version !== current) {
      throw new DomainError('not_found', `This service has the widget in version ${current}: /widget-${current}.js, or /widget.js for the latest.`);
    }
    this.send(reply, FOR_EVER, known);
  }

  private send(reply: FastifyReply, caching: string, known: string | undefined): void {
    const { script, version } = widgetFile();
    const etag = this.etagOf(widgetFile());
    void reply.headers({
      'cache-control': caching,
      etag,
      'x-widget-version': version,
      'x-content-type-options': 'nosniff',
      // A page that isolates itself may load it all the same.
      'cross-origin-resource-policy': 'cross-origin',
    });
    if (known === etag) void reply.status(304).send();
    else void reply.type('text/javascript; charset=utf-8').send(script);
  }

  private etagOf({ script }: WidgetFile): string {
    this.etag ??= `"${createHash('sha256').update(script).digest('base64url')}"`;
    return this.etag;
  }
}
