import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { builtFile } from '../../platform/files/index.js';
import { PublicRoute } from '../../platform/http/index.js';

/** In the order of preference. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

interface WidgetFile {
  readonly script: Buffer;
  /** The version of the widget's package, which is part of the immutable file's name. */
  readonly version: string;
  /** Weak, because it is the same for all encodings of the file. */
  readonly etag: string;
}

const FILE = 'widget/agent-chat.js';
const BANNER = /^\/\* agent-chat (\d+\.\d+\.\d+[\w.-]*) \*\//;

let read: WidgetFile | undefined;
const encoded = new Map<Encoding, Promise<Buffer>>();

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

/** @throws Error when it has not been built */
function widgetFile(): WidgetFile {
  if (!read) {
    const script = builtFile(FILE);
    const version = BANNER.exec(script)?.[1];
    if (version === undefined) throw new Error(`${FILE} does not start with its version`);
    const etag = `W/"${createHash('sha256').update(script).digest('base64url')}"`;
    read = { script: Buffer.from(script), version, etag };
  }
  return read;
}

/** Compresses once per process and encoding, outside of the event loop. */
function widgetScript(encoding: Encoding): Promise<Buffer> {
  let script = encoded.get(encoding);
  if (!script) {
    script = compress(widgetFile().script, encoding);
    encoded.set(encoding, script);
  }
  return script;
}

function compress(script: Buffer, encoding: Encoding): Promise<Buffer> {
  switch (encoding) {
    case 'br':
      return promisify(brotliCompress)(script);
    case 'gzip':
      return promisify(gzip)(script, { level: 9 });
    case 'identity':
      return Promise.resolve(script);
    default:
      return encoding satisfies never;
  }
}
