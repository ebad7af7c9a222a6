import { Module } from '@nestjs/common';
import { JobsModule } from '../platform/jobs/index.js';
import { AttachmentFetcher } from './application/attachment-fetcher.js';
import { AttachmentMemory } from './application/attachment-memory.js';
import { FileDirectory } from './application/file-directory.js';
import { FileHolders } from './application/file-holders.js';
import { FileUrls } from './application/file-urls.js';
import { ReadFile } from './application/read-file.js';
import { UploadFile } from './application/upload-file.js';
import { FilesController } from './http/files.controller.js';
import { RemoveUnusedFiles, removeUnusedFiles } from './jobs/remove-unused-files.job.js';
import { FileRepository } from './persistence/file.repository.js';

@Module({
  imports: [JobsModule.define(removeUnusedFiles)],
  controllers: [FilesController],
  providers: [
    AttachmentFetcher,
    AttachmentMemory,
    FileDirectory,
    FileHolders,
    FileRepository,
    FileUrls,
    ReadFile,
    RemoveUnusedFiles,
    UploadFile,
  ],
  exports: [AttachmentFetcher, AttachmentMemory, FileDirectory, FileHolders],
})
export class FilesModule {}
