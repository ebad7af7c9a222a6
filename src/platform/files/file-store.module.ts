import { join, resolve } from 'node:path';
import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { type FilesBucket, Settings } from '../config/index.js';
import { Logger } from '../telemetry/index.js';
import { DiskFileStore } from './disk-file-store.js';
import { FileStore } from './file-store.js';
import { SWEEP_EVERY_MS } from './limits.js';
import { TempUploads } from './temp-uploads.js';

/** Provides `FileStore`: the bucket of `FILES_S3_*`, otherwise a folder of `DATA_DIR`. */
@Global()
@Module({})
export class FileStoreModule implements OnApplicationBootstrap, OnApplicationShutdown {
  private stopSweeping: (() => void) | undefined;

  constructor(
    @Inject(FileStore) private readonly store: FileStore,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  static forRoot({ filesBucket, dataDir }: Settings): DynamicModule {
    const useFactory = (): FileStore | Promise<FileStore> =>
      filesBucket ? storeIn(filesBucket) : new DiskFileStore(join(dataDir, 'files'));
    return { module: FileStoreModule, providers: [{ provide: FileStore, useFactory }], exports: [FileStore] };
  }

  async onApplicationBootstrap(): Promise<void> {
    const { redisUrl, filesBucket, dataDir } = this.settings;
    if (redisUrl !== undefined && filesBucket === undefined) {
      this.logger.warn(
        { folder: resolve(dataDir, 'files') },
        'Uploaded files are stored only on this machine: set FILES_S3_* if processes run on several machines',
      );
    }
    if (filesBucket) void this.reportMissingCredentials();
    this.stopSweeping = this.clock.every(SWEEP_EVERY_MS, () => void this.sweep());
    await this.sweep();
  }

  onApplicationShutdown(): void {
    this.stopSweeping?.();
  }

  /** The start does not wait for it: the services of a machine that provide credentials may take seconds. */
  private async reportMissingCredentials(): Promise<void> {
    try {
      await this.store.check();
    } catch (error) {
      this.logger.warn(
        { err: error },
        'There are no credentials for the bucket FILES_S3_BUCKET: set FILES_S3_ACCESS_KEY_ID and FILES_S3_SECRET_ACCESS_KEY, or give this machine a role',
      );
    }
  }

  /** Removes the temporary files of killed processes; the next sweep retries those that fail. */
  private async sweep(): Promise<void> {
    try {
      await TempUploads.of(this.settings).sweep(this.clock);
      if (this.store instanceof DiskFileStore) await this.store.drafts.sweep(this.clock);
    } catch (error) {
      this.logger.warn({ err: error }, 'Temporary files could not be removed');
    }
  }
}

/** Loads the SDK only if it is used. */
async function storeIn(bucket: FilesBucket): Promise<FileStore> {
  const { S3FileStore } = await import('./s3-file-store.js');
  return new S3FileStore(bucket);
}
