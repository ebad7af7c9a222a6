import { Body, Controller, Get, HttpCode, Post, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, bodyResource, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiErrors, ApiExample, MultipartBody, PublicRoute, UuidParam } from '../../platform/http/index.js';
import { FileUrls } from '../application/file-urls.js';
import { ReadFile } from '../application/read-file.js';
import { UploadFile } from '../application/upload-file.js';
import { contentDisposition } from '../domain/file.js';
import { MAX_UPLOAD_BYTES } from '../limits.js';
import { ContentQuery, FileResponse, UploadBody } from './files.dto.js';
import { FileUrlExpired, FileUrlInvalid } from '../domain/files.errors.js';

@ApiTags('Files')
@Controller('v1/files')
export class FilesController {
  constructor(
    private readonly uploadFile: UploadFile,
    private readonly readFile: ReadFile,
    private readonly urls: FileUrls,
  ) {}

  @Post('upload')
  @HttpCode(200)
  @MultipartBody({ fileField: 'file', maxFileBytes: MAX_UPLOAD_BYTES })
  @Access({ scope: 'chat', resource: bodyResource('agent', 'assistant_id'), rateLimit: 'chat' })
  @ApiOperation({
    operationId: 'uploadFile',
    summary: 'Upload a file to attach to messages',
    description: 'The file is removed when it was not used for 30 days and no message refers to it.',
  })
  @ApiOkResponse({ type: FileResponse })
  @ApiErrors(404)
  async upload(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Body() { file }: UploadBody,
    @Req() request: FastifyRequest,
  ): Promise<FileResponse> {
    const { id, name, contentType, size } = await this.uploadFile.execute(organizationId, file);
    return { id, name, url: this.urls.sign(id, `${request.protocol}://${request.host}`), contentType, size };
  }

  @Get(':fileId/content')
  @PublicRoute()
  @ApiExample({ needs: "the signature of a file's URL, which is valid for an hour" })
  @ApiOperation({
    operationId: 'readFileContent',
    summary: 'Read an uploaded file at its signed URL',
    description: 'The signature is the credential. Browsers save the file and do not display it.',
  })
  @ApiOkResponse({
    description: 'The content, with the content type of the upload.',
    content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
  })
  @ApiErrors(new FileUrlInvalid(), 404, new FileUrlExpired(), 503)
  async content(
    @UuidParam('fileId') fileId: string,
    @Query() signature: ContentQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const { file, content, secondsLeft } = await this.readFile.execute(fileId, signature);
    void reply.headers({
      'content-type': file.contentType,
      'content-length': String(file.size),
      'content-disposition': contentDisposition(file.name),
      // A browser must not run a customer's file as a page of this service.
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': `private, max-age=${secondsLeft}`,
      'referrer-policy': 'no-referrer',
    });
    return new StreamableFile(content);
  }
}
