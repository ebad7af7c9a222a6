import { Body, Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../../access/index.js';
import { ApiErrors, MultipartBody, UuidParam } from '../../../platform/http/index.js';
import { AddUpload } from '../application/add-upload.js';
import { ReadUploads } from '../application/read-uploads.js';
import { RemoveUpload } from '../application/remove-upload.js';
import type { Upload } from '../domain/upload.js';
import { MAX_UPLOADS_OF_AGENT } from '../limits.js';
import { parseUploadScope } from '../domain/upload-scope.js';
import { MAX_UPLOAD_BYTES } from '../../limits.js';
import { KnowledgeFileListResponse, KnowledgeFileResponse, UploadedFileBody } from './uploads.dto.js';

const AGENT = pathResource('agent', 'agentId');

@ApiTags('Knowledge')
@Controller('v1/agents/:agentId/knowledge-bases/uploaded-files')
export class UploadsController {
  constructor(
    private readonly addUpload: AddUpload,
    private readonly readUploads: ReadUploads,
    private readonly removeUpload: RemoveUpload,
  ) {}

  @Get()
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({
    operationId: 'listUploadedFiles',
    summary: 'List the files uploaded as knowledge of an agent',
    description: 'Newest first. Includes files that are being processed and files that could not be read.',
  })
  @ApiOkResponse({ type: KnowledgeFileListResponse })
  @ApiErrors(404)
  async list(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<KnowledgeFileListResponse> {
    return { files: (await this.readUploads.ofAgent(organizationId, agentId)).map(toResponse) };
  }

  @Post()
  @MultipartBody({ fileField: 'file', maxFileBytes: MAX_UPLOAD_BYTES })
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiOperation({
    operationId: 'uploadKnowledgeFile',
    summary: 'Upload a file as knowledge of an agent',
    description:
      'A background job reads text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, CSV and JSON. A file of any other type or of a type that does not ' +
      `match its bytes, and an encrypted, broken or empty file, gets the status \`failed\` and the reason. An agent has at most ${MAX_UPLOADS_OF_AGENT} files (422).`,
  })
  @ApiCreatedResponse({ type: KnowledgeFileResponse })
  @ApiErrors(404, 422)
  async upload(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { file, scope }: UploadedFileBody,
  ): Promise<KnowledgeFileResponse> {
    const parsedScope = scope === undefined ? null : parseUploadScope(scope);
    return toResponse(await this.addUpload.execute({ organizationId, agentId }, file, parsedScope));
  }

  @Delete(':fileId')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiOperation({
    operationId: 'deleteUploadedFile',
    summary: 'Delete a file uploaded as knowledge of an agent',
    description: 'After the response no search finds the file, even if it was still being processed.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async delete(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('fileId') fileId: string,
  ): Promise<void> {
    await this.removeUpload.execute(organizationId, agentId, fileId);
  }
}

function toResponse(upload: Upload): KnowledgeFileResponse {
  const { id, name, contentType, size, status, error, scope, chunks, bytes } = upload;
  const createdAt = upload.createdAt.toISOString();
  return { id, name, contentType, size, status, error, createdAt, scope, chunks, bytes };
}
