import type { Readable } from 'node:stream';
import { DomainError } from '../errors/index.js';

export interface PutOptions {
  readonly contentType: string;
  /** One byte more and nothing is stored. */
  readonly maxBytes: number;
}

export interface StoredFile {
  /** In bytes. */
  readonly size: number;
}

export interface ReadableFile extends StoredFile {
  /** Is read to its end or destroyed. */
  readonly content: Readable;
}

/**
 * Files, on the disk or in a bucket. A key is one or more segments of lower-case letters, digits, dots, dashes
 * and underscores, separated by slashes. All methods throw `FileStoreUnavailable` when the store does not work.
 */
export abstract class FileStore {
  /**
   * Stores what `content` yields, a part at a time, replacing what was there. Once it resolves the file is
   * durable; when it rejects, what was there before still is.
   * @throws FileTooLarge; what `content` throws
   */
  abstract put(key: string, content: AsyncIterable<Buffer>, options: PutOptions): Promise<StoredFile>;
  abstract get(key: string): Promise<ReadableFile | null>;
  abstract stat(key: string): Promise<StoredFile | null>;
  /** A file that is not there is as good as removed. */
  abstract remove(key: string): Promise<void>;
  /** Rejects when this process sees at once that it cannot store anything. Sends nothing over the network. */
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

/** A key never becomes another path than the one it spells. */
export function segmentsOf(key: string): readonly string[] {
  const segments = key.split('/');
  if (!segments.every((segment) => SEGMENT.test(segment))) throw new Error('This is no key of a file');
  return segments;
}
