import type { Readable } from 'node:stream';
import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import { applyDecorators } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import { IsInstance } from 'class-validator';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { codeOf, DomainError, ValidationFailed } from '../errors/index.js';
import { FileTooLarge, type TempUpload, type TempUploads } from '../files/index.js';
import { AttachedValue } from '../heap/index.js';
import { field, type FieldOptions, withMessage } from './fields.js';
import { checkFields, UnsupportedBody } from './json-body.js';
import { AddRouteConfig } from './public-route.js';

const MULTIPART_BODY = 'http:multipart-body';
const CONTENT_TYPE = 'multipart/form-data';
/** More than any form of the interface needs. */
const LIMITS = { parts: 20, fieldSize: 10_000, fieldNameSize: 200 };
/**
 * How much of a file that is too large the service receives and discards, because a client that is still sending reads no
 * response, and reports a closed connection as a fault.
 */
const DRAINED_BYTES = 50 * 1024 * 1024;

export interface MultipartOptions {
  /** The one field that is a file. */
  readonly fileField: string;
  readonly maxFileBytes: number;
}

/** A file of a multipart body, on the disk until the response is sent. */
export class UploadedFile implements Omit<TempUpload, 'path'> {
  readonly size: number;
  readonly head: Buffer;
  readonly open: TempUpload['open'];
  readonly discard: TempUpload['discard'];

  /** `name` and `contentType` are as the client sent them. */
  constructor(
    readonly name: string,
    readonly contentType: string,
    { size, head, open, discard }: TempUpload,
  ) {
    this.size = size;
    this.head = head;
    this.open = open;
    this.discard = discard;
  }
}

/** The route accepts `multipart/form-data` instead of JSON. Its body is a DTO of text fields and one `FileField`. */
export function MultipartBody(options: MultipartOptions): MethodDecorator {
  return applyDecorators(AddRouteConfig({ [MULTIPART_BODY]: options }), ApiConsumes(CONTENT_TYPE));
}

/** A field with an `UploadedFile`. */
export function FileField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'binary' }, IsInstance(UploadedFile, withMessage('must be a file')));
}

/**
 * Reads multipart bodies on the routes that declare them. These routes refuse JSON, and all others refuse multipart. The body is
 * read before the guards, which need it. A file stays on the disk until the response is sent, also when the client has
 * disconnected, so that a handler always stores a whole file.
 */
export function acceptMultipart(fastify: FastifyInstance, temp: TempUploads): void {
  const ofRequest = new AttachedValue<FastifyRequest, UploadedFile[]>();
  void fastify.register(multipart, { throwFileSizeLimit: false });
  fastify.addHook('preParsing', async (request) => {
    const sent = request.headers['content-type'];
    if (sent === undefined) return;
    const isMultipart = sent.split(';', 1)[0]?.trim().toLowerCase() === CONTENT_TYPE;
    const accepted = declared(request) ? CONTENT_TYPE : 'application/json';
    if (isMultipart !== (accepted === CONTENT_TYPE)) throw UnsupportedBody.ofType(accepted);
  });
  fastify.addHook('preValidation', async (request) => {
    const options = declared(request);
    if (!options || !request.isMultipart()) return;
    const files: UploadedFile[] = [];
    ofRequest.set(request, files);
    request.body = await new FormReader(request, options, temp, files).read();
    if (request.raw.socket.destroyed)
      throw new ValidationFailed('body is of no use: the client has closed the connection');
  });
  // Called for every request whose body was read, also when its client has disconnected.
  fastify.addHook('onSend', async (request) => {
    // A file that cannot be removed now is removed later, as the files of a dead process are.
    for (const file of ofRequest.get(request) ?? []) await file.discard().catch(() => undefined);
  });
}

/** Unlike in the plugin's own type, a part of bytes may have no file name. */
type FilePart = Omit<MultipartFile, 'filename'> & { readonly filename: string | undefined };

/** Reads one body to its end, also after an error, and then throws the first error. */
class FormReader {
  private readonly fields = new Map<string, string | UploadedFile>();
  private newestFile: Readable | undefined;
  private failure: DomainError | undefined;

  constructor(
    private readonly request: FastifyRequest,
    private readonly options: MultipartOptions,
    private readonly temp: TempUploads,
    /** The temporary files of the request. */
    private readonly files: UploadedFile[],
  ) {}

  async read(): Promise<Record<string, string | UploadedFile>> {
    const { raw, headers } = this.request;
    const { maxFileBytes } = this.options;
    const mostBytes = maxFileBytes + DRAINED_BYTES;
    if (Number(headers['content-length']) > mostBytes) throw new FileTooLarge(maxFileBytes);
    let received = 0;
    raw.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received <= mostBytes) return;
      // Destroying an open file ends the form, so that the error is answered. After the last file only the connection is left.
      const open = this.newestFile?.closed === false ? this.newestFile : raw;
      open.destroy(new FileTooLarge(maxFileBytes));
    });
    try {
      for await (const part of this.request.parts({ limits: { ...LIMITS, fileSize: maxFileBytes } })) {
        if (part.type === 'file') await this.takeFile(part);
        else this.takeField(part);
      }
    } catch (error) {
      this.failure ??= toDomainError(error);
    } finally {
      // Otherwise the parser would continue: it needs seconds for a hundred thousand parts.
      raw.unpipe();
      raw.resume();
    }
    if (this.failure) throw this.failure;
    for (const [name, value] of this.fields) checkFields({ [name]: textOf(value) }, 'body');
    return Object.fromEntries(this.fields);
  }

  private takeField({ fieldname, value, fieldnameTruncated, valueTruncated }: MultipartValue): void {
    if (fieldnameTruncated || valueTruncated) this.fail('body has a field that is too long');
    else if (this.fields.has(fieldname)) this.fail(`body/${fieldname.slice(0, 100)} must be given once`);
    // The plugin has parsed a part with the content type JSON.
    else if (typeof value !== 'string') this.fail(`body/${fieldname.slice(0, 100)} must be text`);
    else this.fields.set(fieldname, value);
  }

  private async takeFile({ fieldname, filename, mimetype, file }: FilePart): Promise<void> {
    this.newestFile = file;
    if (fieldname !== this.options.fileField) this.fail(`body/${fieldname.slice(0, 100)} must not be a file`);
    else if (this.fields.has(fieldname)) this.fail(`body/${fieldname} must be given once`);
    else {
      try {
        // The parser stops at a destroyed stream. `resume` below reads the rest of an open one.
        const content = file.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
        const taken = await this.temp.take(content, this.options.maxFileBytes);
        const upload = new UploadedFile(filename ?? '', mimetype, taken);
        this.files.push(upload);
        this.fields.set(fieldname, upload);
        if (file.truncated) this.failure ??= new FileTooLarge(this.options.maxFileBytes);
      } catch (error) {
        this.failure ??= toDomainError(error);
      }
    }
    file.resume();
  }

  private fail(message: string): void {
    this.failure ??= new ValidationFailed(message);
  }
}

/** The parser's error in words of the interface. */
function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const code = codeOf(error);
  if (code === 'FST_PARTS_LIMIT') return new ValidationFailed('body has too many fields');
  if (code === 'FST_PROTO_VIOLATION') return new ValidationFailed('body has a field named __proto__ or alike');
  return new ValidationFailed('body is not valid multipart/form-data');
}

function declared(request: FastifyRequest): MultipartOptions | undefined {
  const config = request.routeOptions.config as unknown as Readonly<Record<string, unknown>>;
  return config[MULTIPART_BODY] as MultipartOptions | undefined;
}

function textOf(value: string | UploadedFile): string {
  return typeof value === 'string' ? value : `${value.name}${value.contentType}`;
}
