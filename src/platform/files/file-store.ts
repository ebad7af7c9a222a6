import type { Readable } from 'node:stream';
import { DomainError } from '../errors/index.js';

export interface PutOptions {
  readonly contentType: string;
  /** Of a larger file nothing is stored. */
  readonly maxBytes: number;
}

export interface StoredFile {
  /** In bytes. */
  readonly size: number;
}

export interface ReadableFile extends StoredFile {
  /** The caller reads it to its end or destroys it. */
  readonly content: Readable;
}

/**
 * Files on the disk or in a bucket. A key is one or more segments of lower-case letters, digits, dots, dashes and underscores,
 * separated by slashes. All methods throw `FileStoreUnavailable` if the store does not work.
 */
export abstract class FileStore {
  /**
   * Stores `content`, part by part, and replaces an earlier file. When it resolves, the file is durable; when it rejects, an
   * earlier file is unchanged.
   * @throws FileTooLarge; what `content` throws
   */
  abstract put(key: string, content: AsyncIterable<Buffer>, options: PutOptions): Promise<StoredFile>;
  abstract get(key: string): Promise<ReadableFile | null>;
  abstract stat(key: string): Promise<StoredFile | null>;
  /** Does nothing if the file does not exist. */
  abstract remove(key: string): Promise<void>;
  /** Rejects if files cannot be stored, as far as this process can detect without the network. */
  abstract check(): Promise<void>;
}

export class FileTooLarge extends DomainError {
  constructor(maxBytes: number) {
    super('payload_too_large', `The file is larger than ${maxBytes} bytes.`, { code: 'FST_ERR_CTP_BODY_TOO_LARGE' });
  }
}

export class FileStoreUnavailable extends DomainError {
  constructor(cause: unknown) {
    super('unavailable', 'Files cannot be stored or read at the moment.', { retryAfterSeconds: 5, cause });
  }
}

const SEGMENT = /^[a-z0-9_-][a-z0-9._-]{0,127}$/;

/** The segments of a key, which cannot lead to another path. */
export function segmentsOf(key: string): readonly string[] {
  const segments = key.split('/');
  if (!segments.every((segment) => SEGMENT.test(segment))) throw new Error('The key of a file is not valid');
  return segments;
}
