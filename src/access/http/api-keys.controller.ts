import { Body, Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { IssueApiKey } from '../application/issue-api-key.js';
import { RevokeApiKey } from '../application/revoke-api-key.js';
import type { ApiKeyPrincipal } from '../domain/principal.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { Access } from './access.decorator.js';
import { apiKeyView, createdApiKeyView } from './api-key-view.js';
import { ApiKeyListResponse, CreateApiKeyBody, CreatedApiKeyResponse } from './api-keys.dto.js';
import { Caller } from './request-access.js';

@ApiTags('API keys')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly issueApiKey: IssueApiKey,
    private readonly apiKeys: ApiKeyRepository,
    private readonly revokeApiKey: RevokeApiKey,
  ) {}

  @Post()
  @Access({ scope: 'manageApiKeys', level: 'organization' })
  @ApiExample({ body: { name: 'Web site', capabilities: ['chat'], agentIds: [EXAMPLE_IDS.agent] } })
  @ApiOperation({ operationId: 'createApiKey', summary: 'Issue an API key' })
  @ApiCreatedResponse({ type: CreatedApiKeyResponse })
  async create(@Caller() caller: ApiKeyPrincipal, @Body() body: CreateApiKeyBody): Promise<CreatedApiKeyResponse> {
    const { key, record } = await this.issueApiKey.byCaller(caller, {
      name: body.name,
      capabilities: body.capabilities,
      agentIds: body.agentIds,
      expiresAt: body.expiresAt === undefined ? null : new Date(body.expiresAt),
    });
    return createdApiKeyView(key, record);
  }

  @Get()
  @Access({ scope: 'manageApiKeys', level: 'organization' })
  @ApiOperation({ operationId: 'listApiKeys', summary: 'List the API keys that are not revoked, oldest first' })
  @ApiOkResponse({ type: ApiKeyListResponse })
  async list(@Caller() caller: ApiKeyPrincipal): Promise<ApiKeyListResponse> {
    const keys = await this.apiKeys.list(caller.organizationId);
    return { apiKeys: keys.map(apiKeyView) };
  }

  @Delete(':id')
  @HttpCode(204)
  @Access({ scope: 'manageApiKeys', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.apiKey } })
  @ApiOperation({
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description: 'The service refuses the key after at most 5 seconds.',
  })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async revoke(@Caller() caller: ApiKeyPrincipal, @UuidParam('id') id: string): Promise<void> {
    await this.revokeApiKey.execute(caller.organizationId, id);
  }
}
