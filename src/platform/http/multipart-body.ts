import type { IncomingMessage } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import { IsInstance } from 'class-validator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ValidationFailed } from '../errors/index.js';
import type { TempUploads } from '../files/index.js';
import { field, type FieldOptions, says } from './fields.js';
import { MultipartForm, type MultipartOptions, UploadedFile } from './multipart-form.js';
import { AddRouteConfig } from './public-route.js';

const MULTIPART_BODY = 'http:multipart-body';
const CONTENT_TYPE = 'multipart/form-data';

/** The route takes `multipart/form-data` in place of JSON. Its body is a DTO of text fields and one `FileField`. */
export function MultipartBody(options: MultipartOptions): MethodDecorator {
  return applyDecorators(AddRouteConfig({ [MULTIPART_BODY]: options }), ApiConsumes(CONTENT_TYPE));
}

/** A field that holds an `UploadedFile`. */
export function FileField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'binary' }, IsInstance(UploadedFile, says('must be a file')));
}

/**
 * Reads multipart bodies on the routes that declare them. Everywhere else they are as unsupported as before,
 * and JSON is on those routes. Spooled files are gone when the request is over, however it ended and whoever left.
 */
export function acceptMultipart(fastify: FastifyInstance, spool: TempUploads): void {
  const uploads = new WeakMap<FastifyRequest, RequestUploads>();
  fastify.addHook('preParsing', async (request, reply) => {
    const sent = request.headers['content-type'];
    if (!declared(request) || sent === undefined) return;
    if (!isMultipart(sent)) throw new UnsupportedContentType(CONTENT_TYPE);
    uploads.set(request, new RequestUploads(reply));
  });
  fastify.addContentTypeParser(CONTENT_TYPE, async (request: FastifyRequest, payload: IncomingMessage) => {
    const options = declared(request);
    if (!options) throw new UnsupportedContentType('application/json');
    const form = await new MultipartForm(options, spool).read(payload, request.headers);
    await uploads.get(request)?.hold(Object.values(form).filter((value) => value instanceof UploadedFile));
    return form;
  });
  // Comes whatever becomes of a request whose body was read, also when nobody is left to be answered.
  fastify.addHook('onSend', (request, _reply, _payload, done) => {
    uploads.get(request)?.release();
    done();
  });
}

/**
 * The files of one request. They go when its connection has no more use for the answer and its handler none for
 * the files, whichever comes last: a handler that stores a file stores the whole of it, although the client left.
 */
class RequestUploads {
  private files: readonly UploadedFile[] = [];
  private closed = false;
  private inUse = false;

  constructor({ raw }: FastifyReply) {
    const close = (): void => {
      this.closed = true;
      this.discardUnused();
    };
    raw.once('close', close);
    // A response that waits behind another one of its connection has no socket, and so never closes with it.
    raw.req.socket.once('close', close);
    raw.once('close', () => raw.req.socket.off('close', close));
  }

  /** @throws ValidationFailed when the client left meanwhile: there is nothing to handle then */
  async hold(files: readonly UploadedFile[]): Promise<void> {
    this.files = files;
    if (this.closed) {
      await this.discard();
      throw new ValidationFailed('body was not waited for: the client closed the connection');
    }
    this.inUse = true;
  }

  /** The handler, or whoever refused the request, has answered. */
  release(): void {
    this.inUse = false;
    this.discardUnused();
  }

  private discardUnused(): void {
    // What cannot be removed now is removed as what a dead process leaves is.
    if (this.closed && !this.inUse) void this.discard().catch(() => undefined);
  }

  private async discard(): Promise<void> {
    const files = this.files;
    this.files = [];
    for (const file of files) await file.discard();
  }
}

class UnsupportedContentType extends DomainError {
  constructor(accepted: string) {
    super('unsupported_media_type', `The content type of the body is not supported here; send ${accepted}.`, {
      code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE',
    });
  }
}

function declared(request: FastifyRequest): MultipartOptions | undefined {
  const config = request.routeOptions.config as unknown as Readonly<Record<string, unknown>>;
  return config[MULTIPART_BODY] as MultipartOptions | undefined;
}

function isMultipart(contentType: string): boolean {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === CONTENT_TYPE;
}
