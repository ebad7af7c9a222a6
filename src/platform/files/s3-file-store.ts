import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { FilesBucket } from '../config/index.js';
import {
  FileStore,
  FileStoreUnavailable,
  type PutOptions,
  type ReadableFile,
  segmentsOf,
  type StoredFile,
} from './file-store.js';
import { WatchedSource } from './watched-source.js';
import { S3_ATTEMPTS, S3_CONNECT_MS, S3_PART_BYTES, S3_SILENCE_MS } from './limits.js';

/** Files in a bucket of S3 or of anything that speaks its API. */
export class S3FileStore extends FileStore implements OnApplicationShutdown {
  private readonly client: S3Client;
  private readonly bucket: string;

  constructor({ bucket, endpoint, region, accessKeyId, secretAccessKey }: FilesBucket) {
    super();
    this.bucket = bucket;
    this.client = new S3Client({
      region,
      credentials: { accessKeyId, secretAccessKey },
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Stores other than AWS's do not all know the checksums that are newer than the API itself.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: S3_ATTEMPTS,
      requestHandler: { connectionTimeout: S3_CONNECT_MS, requestTimeout: S3_SILENCE_MS },
    });
  }

  /** One part at a time is in memory, and one more on its way. A broken upload is aborted, which frees its parts. */
  async put(key: string, content: AsyncIterable<Buffer>, { contentType, maxBytes }: PutOptions): Promise<StoredFile> {
    const source = new WatchedSource(content, maxBytes);
    const upload = new Upload({
      client: this.client,
      params: { ...this.object(key), Body: Readable.from(source), ContentType: contentType },
      partSize: S3_PART_BYTES,
      queueSize: 1,
    });
    try {
      await upload.done();
      return { size: source.size };
    } catch (error) {
      throw source.blame(() => new FileStoreUnavailable(error));
    }
  }

  async get(key: string): Promise<ReadableFile | null> {
    const object = this.object(key);
    return orNull(async () => {
      const { Body: content, ContentLength: size = 0 } = await this.client.send(new GetObjectCommand(object));
      if (!(content instanceof Readable)) throw new Error('The store answered without a body');
      return { size, content };
    });
  }

  async stat(key: string): Promise<StoredFile | null> {
    const object = this.object(key);
    return orNull(async () => ({ size: (await this.client.send(new HeadObjectCommand(object))).ContentLength ?? 0 }));
  }

  async remove(key: string): Promise<void> {
    const object = this.object(key);
    await orNull(() => this.client.send(new DeleteObjectCommand(object)));
  }

  /**
   * A bucket that is away would take every process out of service at once, though only uploads and attachments need
   * it; and credentials for objects alone cannot be told from wrong ones without writing.
   */
  check(): Promise<void> {
    return Promise.resolve();
  }

  onApplicationShutdown(): void {
    this.client.destroy();
  }

  private object(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.bucket, Key: segmentsOf(key).join('/') };
  }
}

async function orNull<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask();
  } catch (error) {
    // Of the object; a bucket that is not there is a store that does not work.
    const isAbsent = error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound');
    if (isAbsent) return null;
    throw new FileStoreUnavailable(error);
  }
}
