import { Body, Controller, Delete, Get, HttpCode, Post, Put, Req } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../../access/index.js';
import { ApiCauses, ApiErrors, ApiExample, UuidParam } from '../../../platform/http/index.js';
import { DriveSources, type ReadSource } from '../application/drive-sources.js';
import { SelectDriveFiles } from '../application/select-drive-files.js';
import { MAX_FILES } from '../limits.js';
import { DriveSignIn } from '../application/sign-in/drive-sign-in.js';
import { DriveAuthorizeBody, DriveAuthorizeResponse, DriveSetupBody, DriveSourceResponse } from './drive.dto.js';

const AGENT = pathResource('agent', 'agentId');
const SERVICE_ACCOUNT = 'a drive, and a service account of it';
const SIGN_IN = "a person's sign-in to a drive";

@ApiTags('Knowledge')
@Controller('v1/agents/:agentId/knowledge-bases')
export class DriveSourcesController {
  constructor(
    private readonly selectFiles: SelectDriveFiles,
    private readonly sources: DriveSources,
    private readonly signIn: DriveSignIn,
  ) {}

  @Put('drive')
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ body: { fileIds: ['1AbCdEfGhIjKlMnOpQrStUvWxYz'] }, needs: SERVICE_ACCOUNT })
  @ApiOperation({
    operationId: 'updateDriveKnowledge',
    summary: 'Sync drive files and folders through a service account',
    description:
      'The list is complete. Entries that the account cannot see answer 400 drive_file_not_found naming them, and nothing is stored. At most ' +
      `${MAX_FILES} files are indexed; other types are left out. A sync is repeated every hour. An integrationId that the ` +
      "organization does not have answers 404, one of an account that the key's owner may not use 403 forbidden_drive_sa.",
  })
  @ApiOkResponse({ type: DriveSourceResponse })
  @ApiErrors(404, 502)
  @ApiCauses(400, 'drive_sa_ambiguous', 'drive_sa_not_configured')
  async put(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { integrationId, fileIds }: DriveSetupBody,
  ): Promise<DriveSourceResponse> {
    await this.selectFiles.execute(caller, { agentId, integrationId, fileIds });
    return toResponse(await this.sources.read(caller.organizationId, agentId, 'service_account'));
  }

  @Get('drive-service-account')
  @Access({ scope: 'none', resource: AGENT })
  @ApiExample({ needs: SERVICE_ACCOUNT })
  @ApiOperation({ operationId: 'getDriveKnowledge', summary: 'Read what an agent knows through a service account' })
  @ApiOkResponse({ type: DriveSourceResponse })
  @ApiErrors(404)
  async read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<DriveSourceResponse> {
    return toResponse(await this.sources.read(organizationId, agentId, 'service_account'));
  }

  @Delete('drive-service-account')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ needs: SERVICE_ACCOUNT })
  @ApiOperation({
    operationId: 'deleteDriveKnowledge',
    summary: 'Delete what an agent knows through a service account',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async remove(@Caller() { organizationId }: ApiKeyPrincipal, @UuidParam('agentId') agentId: string): Promise<void> {
    await this.sources.remove(organizationId, agentId, 'service_account');
  }

  @Get('drive-oauth')
  @Access({ scope: 'none', resource: AGENT })
  @ApiExample({ needs: SIGN_IN })
  @ApiOperation({
    operationId: 'getDriveSignInKnowledge',
    summary: "Read what an agent knows through a person's sign-in",
  })
  @ApiOkResponse({ type: DriveSourceResponse })
  @ApiErrors(404)
  async readSignIn(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<DriveSourceResponse> {
    return toResponse(await this.sources.read(organizationId, agentId, 'sign_in'));
  }

  @Delete('drive-oauth')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ needs: SIGN_IN })
  @ApiOperation({
    operationId: 'deleteDriveSignInKnowledge',
    summary: "Delete what an agent knows through a person's sign-in, and the sign-in",
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async removeSignIn(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
  ): Promise<void> {
    await this.sources.remove(organizationId, agentId, 'sign_in');
  }

  @Post('drive-oauth/authorize')
  @HttpCode(200)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    body: { fileIds: ['1AbCdEfGhIjKlMnOpQrStUvWxYz'], redirectUrl: 'https://example.com/connected' },
    needs: "the operator's settings for sign-ins to a drive",
  })
  @ApiOperation({
    operationId: 'authorizeDrive',
    summary: "Begin a person's sign-in to the drive",
    description:
      'Send a person to authorizationUrl; once the sign-in is completed and the files were found, their sync begins and the browser is redirected to ' +
      'redirectUrl. The last completed sign-in counts. Where the operator has set no client for the drive the answer is 422 drive_oauth_not_configured.',
  })
  @ApiOkResponse({ type: DriveAuthorizeResponse })
  @ApiErrors(404, 422)
  async authorize(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Body() { fileIds, redirectUrl }: DriveAuthorizeBody,
    @Req() request: FastifyRequest,
  ): Promise<DriveAuthorizeResponse> {
    const origin = `${request.protocol}://${request.host}`;
    return { authorizationUrl: await this.signIn.start({ organizationId, agentId, fileIds, redirectUrl, origin }) };
  }
}

function toResponse(source: ReadSource): DriveSourceResponse {
  const { id, accountId, files, state, lastError, startedAt, chunks, bytes } = source;
  const lastSuccessfulSyncAt = source.lastSuccessfulSyncAt?.toISOString() ?? null;
  const sync = { state, lastError, lastSuccessfulSyncAt, startedAt: startedAt.toISOString() };
  return { files, integrationId: accountId ?? id, sync, chunks, bytes };
}
