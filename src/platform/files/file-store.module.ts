import { join, resolve } from 'node:path';
import {
  type DynamicModule,
  Global,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Settings } from '../config/index.js';
import { Logger } from '../telemetry/index.js';
import { DiskFileStore } from './disk-file-store.js';
import { FileStore } from './file-store.js';
import { S3FileStore } from './s3-file-store.js';
import { UploadSpool } from './upload-spool.js';

@Injectable()
class FileStoreLife implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(FileStore) private readonly store: FileStore,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { redisUrl, filesBucket, dataDir } = this.settings;
    if (redisUrl !== undefined && filesBucket === undefined) {
      this.logger.warn(
        { folder: resolve(dataDir, 'files') },
        'Uploaded files are on this machine alone: set FILES_S3_* where processes run on several machines',
      );
    }
    await UploadSpool.of(this.settings).sweep(this.clock);
    if (this.store instanceof DiskFileStore) await this.store.sweep(this.clock);
  }

  onApplicationShutdown(): void {
    if (this.store instanceof S3FileStore) this.store.close();
  }
}

/** Provides `FileStore`, a bucket where `FILES_S3_*` names one and else a folder of `DATA_DIR`. */
@Global()
@Module({})
export class FileStoreModule {
  static forRoot(settings: Settings): DynamicModule {
    const { filesBucket, dataDir } = settings;
    const store = filesBucket ? new S3FileStore(filesBucket) : new DiskFileStore(join(dataDir, 'files'));
    return {
      module: FileStoreModule,
      providers: [
        { provide: FileStore, useValue: store },
        FileStoreLife,
      ],
      exports: [FileStore],
    };
  }
}
