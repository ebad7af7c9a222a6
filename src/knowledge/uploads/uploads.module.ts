import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { IndexModule } from '../index/index.module.js';
import { ParsingModule } from '../parsing/parsing.module.js';
import { AddUpload } from './application/add-upload.js';
import { ParseUpload } from './application/parse-upload.js';
import { ReadUploads } from './application/read-uploads.js';
import { RemoveUpload } from './application/remove-upload.js';
import { UploadScheduler } from './application/upload-scheduler.js';
import { UploadsController } from './http/uploads.controller.js';
import { checkUploads, CheckUploadsProcessor } from './jobs/check-uploads.job.js';
import { ParseUploadProcessor, RemoveUploadProcessor } from './jobs/run-uploads.job.js';
import { parseUpload, removeUpload } from './jobs/upload.jobs.js';
import { UploadRepository } from './persistence/upload.repository.js';

const useCases = [AddUpload, ReadUploads, RemoveUpload, ParseUpload, UploadScheduler];
const processors = [ParseUploadProcessor, RemoveUploadProcessor, CheckUploadsProcessor];

/** Files that customers upload as knowledge of agents. */
@Module({
  imports: [
    AccessModule,
    AgentsModule,
    IndexModule,
    ParsingModule,
    JobsModule.define(parseUpload, removeUpload, checkUploads),
  ],
  controllers: [UploadsController],
  providers: [UploadRepository, ...useCases, ...processors],
})
export class UploadsModule {}
