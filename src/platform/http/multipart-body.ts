import type { IncomingMessage } from 'node:http';
import { applyDecorators } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { DomainError } from '../errors/index.js';
import type { UploadSpool } from '../files/index.js';
import { declareField, type FieldOptions } from './declared-field.js';
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
  return declareField(options, {
    rule: (value) => (value instanceof UploadedFile ? undefined : 'must be a file'),
    schema: { type: 'string', format: 'binary' },
  });
}

/**
 * Reads multipart bodies on the routes that declare them. Everywhere else they are as unsupported as before,
 * and JSON is on those routes. Spooled files are gone when the request is over, however it ended.
 */
export function acceptMultipart(fastify: FastifyInstance, spool: UploadSpool): void {
  const uploads = new WeakMap<object, readonly UploadedFile[]>();
  fastify.addHook('preParsing', async (request) => {
    const sent = request.headers['content-type'];
    if (declared(request) && sent !== undefined && !isMultipart(sent)) throw new UnsupportedContentType(CONTENT_TYPE);
  });
  fastify.addContentTypeParser(CONTENT_TYPE, async (request: FastifyRequest, payload: IncomingMessage) => {
    const options = declared(request);
    if (!options) throw new UnsupportedContentType('application/json');
    const form = await new MultipartForm(options, spool).read(payload, request.headers);
    uploads.set(
      request,
      Object.values(form).filter((value) => value instanceof UploadedFile),
    );
    return form;
  });
  fastify.addHook('onResponse', async (request) => {
    for (const upload of uploads.get(request) ?? []) await upload.discard();
  });
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
