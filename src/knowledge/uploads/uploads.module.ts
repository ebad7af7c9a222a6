import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { IndexModule } from '../index/index.module.js';
import { ParsingModule } from '../parsing/parsing.module.js';
import { AddUpload } from './application/add-upload.js';
import { DiscardUpload } from './application/discard-upload.js';
import { ParseUpload } from './application/parse-upload.js';
import { ReadUploads } from './application/read-uploads.js';
import { RemoveLeftBehindKnowledge } from './application/remove-left-behind-knowledge.js';
import { RemoveUpload } from './application/remove-upload.js';
import { TakeUploadTurns } from './application/take-upload-turns.js';
import { UploadsController } from './http/uploads.controller.js';
import { checkUploads, CheckUploadsProcessor } from './jobs/check-uploads.job.js';
import { parseUpload } from './jobs/parse-upload.definition.js';
import { ParseUploadProcessor } from './jobs/parse-upload.job.js';
import { removeUpload, RemoveUploadProcessor } from './jobs/remove-upload.job.js';
import { LeftBehindKnowledge } from './persistence/left-behind-knowledge.repository.js';
import { UploadTurnRepository } from './persistence/upload-turn.repository.js';
import { UploadRepository } from './persistence/upload.repository.js';
import { Module } from '@nestjs/common';

const records = [UploadRepository, UploadTurnRepository, LeftBehindKnowledge];
const useCases = [AddUpload, ReadUploads, RemoveUpload, ParseUpload, DiscardUpload, TakeUploadTurns, RemoveLeftBehindKnowledge];
const processors = [ParseUploadProcessor, RemoveUploadProcessor, CheckUploadsProcessor];

/** Files that were uploaded for agents to know. */
@Module({
  imports: [AccessModule, AgentsModule, IndexModule, ParsingModule, JobsModule.define(parseUpload, removeUpload, checkUploads)],
  controllers: [UploadsController],
  providers: [...records, ...useCases, ...processors],
})
export class UploadsModule {}
