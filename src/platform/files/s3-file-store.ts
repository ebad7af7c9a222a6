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

export class S3FileStore extends FileStore implements OnApplicationShutdown {
  private readonly client: S3Client;
  private readonly bucket: string;
  private hasHadCredentials = false;

  constructor({ bucket, endpoint, region, credentials }: FilesBucket) {
    super();
    this.bucket = bucket;
    this.client = new S3Client({
      region,
      // Without any the SDK looks for those that the machine provides, and renews them before they expire.
      ...(credentials && { credentials }),
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Not all stores support the newer checksums of AWS.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      maxAttempts: S3_ATTEMPTS,
      requestHandler: { connectionTimeout: S3_CONNECT_MS, requestTimeout: S3_SILENCE_MS },
    });
  }

  /** One part is in memory and one is being sent. A failed upload is aborted, which removes its parts. */
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
      throw source.errorOr(() => new FileStoreUnavailable(error));
    }
  }

  async get(key: string): Promise<ReadableFile | null> {
    const object = this.object(key);
    return orNull(async () => {
      const { Body: content, ContentLength: size = 0 } = await this.client.send(new GetObjectCommand(object));
      if (!(content instanceof Readable)) throw new Error('The response of the store has no body');
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
   * Only that there are credentials, or were once: this finds a role that was forgotten. An unreachable bucket, or service of
   * credentials, would make all processes unready, though only uploads and attachments need it; and without a write, credentials
   * that allow only objects look like wrong ones.
   */
  async check(): Promise<void> {
    if (this.hasHadCredentials) return;
    try {
      await this.client.config.credentials();
      this.hasHadCredentials = true;
    } catch (error) {
      throw new FileStoreUnavailable(error);
    }
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
    // The object is missing; for a missing bucket the name is another.
    const isAbsent = error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound');
    if (isAbsent) return null;
    throw new FileStoreUnavailable(error);
  }
}
