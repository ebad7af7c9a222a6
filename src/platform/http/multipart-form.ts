import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ValidationFailed } from '../errors/index.js';
import { FileTooLarge, type SpooledFile, type TempUploads } from '../files/index.js';
import { checkFields } from './json-body.js';

export interface MultipartOptions {
  /** The one field that is a file. */
  readonly fileField: string;
  readonly maxFileBytes: number;
}

/** Fields besides the file, their names and values: more than any form of the interface needs. */
const MAX_PARTS = 20;
const FIELD_BYTES = 10_000;
const NAME_BYTES = 200;
/**
 * How much of a file that is too large is still taken in, and thrown away: a client that is in the middle of
 * sending reads no answer before it is through, and a connection that is closed on it looks like a fault.
 */
const DRAINED_BYTES = 50 * 1024 * 1024;

/** A file of a multipart body, on the disk until its request is answered. */
export class UploadedFile {
  constructor(
    /** As the client named it. */
    readonly name: string,
    /** As the client declared it. */
    readonly contentType: string,
    private readonly spooled: SpooledFile,
  ) {}

  /** In bytes. */
  get size(): number {
    return this.spooled.size;
  }
  /** The first 4 KiB. */
  get head(): Buffer {
    return this.spooled.head;
  }
  /** Its content, from the beginning, each time anew. */
  open(): Readable {
    return this.spooled.open();
  }
  async discard(): Promise<void> {
    await this.spooled.discard();
  }
}

/** Reads one multipart body: fields as text, the file into the spool, as fast as the disk takes it. */
export class MultipartForm {
  private readonly fields = new Map<string, string | UploadedFile>();
  private readonly files: BusboyFileStream[] = [];
  private readonly taken: Promise<void>[] = [];
  private received = 0;
  private failure: Error | undefined;

  constructor(
    private readonly options: MultipartOptions,
    private readonly spool: TempUploads,
  ) {}

  /** @throws ValidationFailed, FileTooLarge; nothing is left on the disk then */
  async read(payload: Readable, headers: IncomingHttpHeaders): Promise<Record<string, string | UploadedFile>> {
    try {
      this.checkLength(headers);
      await this.parse(payload, openParser(headers, this.options));
      await Promise.all(this.taken);
      if (this.failure) throw this.failure;
      const fields = Object.fromEntries(this.fields);
      for (const [name, value] of this.fields) checkFields({ [name]: textOf(value) }, 'body');
      return fields;
    } catch (error) {
      await Promise.allSettled(this.taken);
      await this.discard();
      throw error;
    }
  }

  private checkLength(headers: IncomingHttpHeaders): void {
    const { maxFileBytes } = this.options;
    if (Number(headers['content-length']) > maxFileBytes + DRAINED_BYTES) throw new FileTooLarge(maxFileBytes);
  }

  private parse(payload: Readable, parser: BusboyInstance): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        payload.unpipe(parser);
        // What is left would otherwise keep the connection from closing properly.
        payload.resume();
        for (const file of this.files) file.destroy(error);
        reject(error);
      };
      parser.on('field', (name, value, nameCut, valueCut) => {
        if (nameCut || valueCut) this.complain(new ValidationFailed('body has a field that is too long'));
        else this.addField(name, value);
      });
      parser.on('file', (name, stream, fileName, _encoding, contentType) => {
        this.addFile(name, stream, fileName, contentType);
      });
      parser.on('partsLimit', () => {
        // The rest is thrown away unread: a hundred thousand parts take seconds to tell from one another.
        fail(new ValidationFailed('body has too many fields'));
      });
      parser.on('error', () => {
        fail(new ValidationFailed('body is not valid multipart/form-data'));
      });
      parser.on('finish', resolve);
      payload.on('data', (chunk: Buffer) => {
        this.received += chunk.length;
        const { maxFileBytes } = this.options;
        if (this.received > maxFileBytes + DRAINED_BYTES) fail(new FileTooLarge(maxFileBytes));
      });
      payload.on('error', fail);
      payload.on('close', () => {
        if (!payload.readableEnded) fail(new ValidationFailed('body was not sent to its end'));
      });
      payload.pipe(parser);
    });
  }

  private addField(name: string, value: string): void {
    if (this.fields.has(name)) this.complain(new ValidationFailed(`body/${name.slice(0, 100)} must be given once`));
    else this.fields.set(name, value);
  }

  private addFile(name: string, stream: BusboyFileStream, fileName: string, contentType: string): void {
    const isWanted = name === this.options.fileField && !this.files.length && !this.fields.has(name);
    this.files.push(stream);
    stream.on('error', () => undefined);
    if (isWanted) {
      this.taken.push(this.take(name, stream, fileName, contentType));
      return;
    }
    const complaint = name === this.options.fileField ? 'must be given once' : 'must not be a file';
    this.complain(new ValidationFailed(`body/${name.slice(0, 100)} ${complaint}`));
    stream.resume();
  }

  private async take(name: string, stream: BusboyFileStream, fileName: string, contentType: string): Promise<void> {
    try {
      // The parser waits for ever for a stream that was destroyed; one that nobody wants is read to its end.
      const content = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
      const spooled = await this.spool.take(content, this.options.maxFileBytes);
      this.fields.set(name, new UploadedFile(fileName, contentType, spooled));
      if (stream.truncated) throw new FileTooLarge(this.options.maxFileBytes);
    } catch (error) {
      stream.resume();
      this.complain(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async discard(): Promise<void> {
    for (const value of this.fields.values()) if (value instanceof UploadedFile) await value.discard();
  }

  /** The first one counts; the rest of the body is read all the same. */
  private complain(error: Error): void {
    this.failure ??= error;
  }
}

function openParser(headers: IncomingHttpHeaders, { maxFileBytes }: MultipartOptions): BusboyInstance {
  const limits = { fileSize: maxFileBytes, fieldSize: FIELD_BYTES, fieldNameSize: NAME_BYTES, parts: MAX_PARTS };
  try {
    const { 'content-type': contentType = '' } = headers;
    return new Busboy({ headers: { ...headers, 'content-type': contentType }, limits });
  } catch {
    // No boundary.
    throw new ValidationFailed('body is not valid multipart/form-data');
  }
}

function textOf(value: string | UploadedFile): string {
  return typeof value === 'string' ? value : `${value.name}${value.contentType}`;
}
