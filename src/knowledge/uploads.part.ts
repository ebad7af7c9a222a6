import { JobsModule } from '../platform/jobs/index.js';
import { AddUpload } from './application/add-upload.js';
import { DiscardUpload } from './application/discard-upload.js';
import { KnowledgeSearchTool } from './application/knowledge-search.tool-source.js';
import { ParseUpload } from './application/parse-upload.js';
import { ReadUploads } from './application/read-uploads.js';
import { RemoveLeftBehindKnowledge } from './application/remove-left-behind-knowledge.js';
import { RemoveUpload } from './application/remove-upload.js';
import { TakeUploadTurns } from './application/take-upload-turns.js';
import { SearchController } from './http/search.controller.js';
import { UploadsController } from './http/uploads.controller.js';
import { checkUploads, CheckUploadsProcessor } from './jobs/check-uploads.job.js';
import { parseUpload } from './jobs/parse-upload.definition.js';
import { ParseUploadProcessor } from './jobs/parse-upload.job.js';
import { removeUpload, RemoveUploadProcessor } from './jobs/remove-upload.job.js';
import type { KnowledgePart } from './knowledge-part.js';
import { LeftBehindKnowledge } from './persistence/left-behind-knowledge.repository.js';
import { UploadRepository } from './persistence/upload.repository.js';
import { UploadTurnRepository } from './persistence/upload-turn.repository.js';

export const uploadsPart: KnowledgePart = {
  imports: [JobsModule.define(parseUpload, removeUpload, checkUploads)],
  controllers: [UploadsController, SearchController],
  providers: [
    ...[AddUpload, ReadUploads, RemoveUpload, ParseUpload, DiscardUpload, TakeUploadTurns, RemoveLeftBehindKnowledge],
    ...[UploadRepository, UploadTurnRepository, LeftBehindKnowledge],
    ...[ParseUploadProcessor, RemoveUploadProcessor, CheckUploadsProcessor],
    KnowledgeSearchTool,
  ],
};
