import type { Readable } from 'node:stream';
import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import { applyDecorators } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import { IsInstance } from 'class-validator';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { codeOf, DomainError, ValidationFailed } from '../errors/index.js';
import { FileTooLarge, type TempUpload, type TempUploads } from '../files/index.js';
import { field, type FieldOptions, says } from './fields.js';
import { checkFields } from './json-body.js';
import { AddRouteConfig } from './public-route.js';
import { UnsupportedBody } from './unsupported-body.js';

const MULTIPART_BODY = 'http:multipart-body';
const CONTENT_TYPE = 'multipart/form-data';
/** More than any form of the interface needs. */
const LIMITS = { parts: 20, fieldSize: 10_000, fieldNameSize: 200 };
/**
 * How much of a file that is too large is still taken in, and thrown away: a client that is in the middle of
 * sending reads no answer before it is through, and a connection that is closed on it looks like a fault.
 */
const DRAINED_BYTES = 50 * 1024 * 1024;

export interface MultipartOptions {
  /** The one field that is a file. */
  readonly fileField: string;
  readonly maxFileBytes: number;
}

/** A file of a multipart body, on the disk until its request is answered. */
export class UploadedFile implements Omit<TempUpload, 'path'> {
  readonly size: number;
  readonly head: Buffer;
  readonly open: TempUpload['open'];
  readonly discard: TempUpload['discard'];

  /** `name` and `contentType` are as the client says. */
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

/** The route takes `multipart/form-data` in place of JSON. Its body is a DTO of text fields and one `FileField`. */
export function MultipartBody(options: MultipartOptions): MethodDecorator {
  return applyDecorators(AddRouteConfig({ [MULTIPART_BODY]: options }), ApiConsumes(CONTENT_TYPE));
}

/** A field that holds an `UploadedFile`. */
export function FileField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'binary' }, IsInstance(UploadedFile, says('must be a file')));
}

/**
 * Reads multipart bodies on the routes that declare them; elsewhere they are not supported, and JSON is not there.
 * The guards need the body, so it is read before them. A file is on the disk until the handler has answered, whoever
 * left meanwhile: a handler that stores a file stores the whole of it.
 */
export function acceptMultipart(fastify: FastifyInstance, temp: TempUploads): void {
  const ofRequest = new WeakMap<FastifyRequest, UploadedFile[]>();
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
    // The client left meanwhile: there is nothing to handle then.
    if (request.raw.socket.destroyed) throw new ValidationFailed('body was not waited for: the connection is closed');
  });
  // Called for every request whose body was read, also when its client has disconnected.
  fastify.addHook('onSend', async (request) => {
    // What cannot be removed now is removed as what a dead process leaves is.
    for (const file of ofRequest.get(request) ?? []) await file.discard().catch(() => undefined);
  });
}

/** As the plugin gives it, whatever its own type says: a part of bytes may come without a name. */
type FilePart = Omit<MultipartFile, 'filename'> & { readonly filename: string | undefined };

/** Reads one body to its end, whatever is wrong with it, and then says what was wrong first. */
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
      // Ends a file and with it the form, which is then answered; behind the last file nothing is left but to hang up.
      const open = this.newestFile?.closed === false ? this.newestFile : raw;
      open.destroy(new FileTooLarge(maxFileBytes));
    });
    try {
      for await (const part of this.request.parts({ limits: { ...LIMITS, fileSize: maxFileBytes } })) {
        if (part.type === 'file') await this.takeFile(part);
        else this.takeField(part);
      }
    } catch (error) {
      this.failure ??= explained(error);
    } finally {
      // The parser would go on: a hundred thousand parts take seconds to tell from one another.
      raw.unpipe();
      raw.resume();
    }
    if (this.failure) throw this.failure;
    for (const [name, value] of this.fields) checkFields({ [name]: textOf(value) }, 'body');
    return Object.fromEntries(this.fields);
  }

  private takeField({ fieldname, value, fieldnameTruncated, valueTruncated }: MultipartValue): void {
    if (fieldnameTruncated || valueTruncated) this.complain('body has a field that is too long');
    else if (this.fields.has(fieldname)) this.complain(`body/${fieldname.slice(0, 100)} must be given once`);
    // The plugin has parsed a part that says it is JSON.
    else if (typeof value !== 'string') this.complain(`body/${fieldname.slice(0, 100)} must be text`);
    else this.fields.set(fieldname, value);
  }

  private async takeFile({ fieldname, filename, mimetype, file }: FilePart): Promise<void> {
    this.newestFile = file;
    if (fieldname !== this.options.fileField) this.complain(`body/${fieldname.slice(0, 100)} must not be a file`);
    else if (this.fields.has(fieldname)) this.complain(`body/${fieldname} must be given once`);
    else {
      try {
        // The parser goes no further behind a stream that was destroyed; one that no handler reads is read to its end.
        const content = file.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
        const taken = await this.temp.take(content, this.options.maxFileBytes);
        const upload = new UploadedFile(filename ?? '', mimetype, taken);
        this.files.push(upload);
        this.fields.set(fieldname, upload);
        if (file.truncated) this.failure ??= new FileTooLarge(this.options.maxFileBytes);
      } catch (error) {
        this.failure ??= explained(error);
      }
    }
    file.resume();
  }

  private complain(message: string): void {
    this.failure ??= new ValidationFailed(message);
  }
}

/** In words of the interface, what the parser says of a body that it cannot read. */
function explained(error: unknown): DomainError {
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
