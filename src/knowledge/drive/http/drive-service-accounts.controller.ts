import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, type ApiKeyPrincipal } from '../../../access/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../../platform/http/index.js';
import { ServiceAccounts } from '../application/service-accounts.js';
import { type ListedServiceAccount, ServiceAccountRepository } from '../persistence/service-account.repository.js';
import {
  AddServiceAccountBody,
  DeletedServiceAccountResponse,
  ServiceAccountListResponse,
  ServiceAccountResponse,
} from './drive.dto.js';
import { ForbiddenServiceAccountManage, ServiceAccountExists } from '../domain/drive-errors.js';

@ApiTags('Drive service accounts')
@Controller('v1/integrations/drive/service-accounts')
export class DriveServiceAccountsController {
  constructor(
    private readonly records: ServiceAccountRepository,
    private readonly accounts: ServiceAccounts,
  ) {}

  @Get()
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({ operationId: 'listDriveServiceAccounts', summary: "List the organization's drive service accounts" })
  @ApiOkResponse({ type: ServiceAccountListResponse })
  async list(@Caller() { organizationId }: ApiKeyPrincipal): Promise<ServiceAccountListResponse> {
    return { serviceAccounts: (await this.records.list(organizationId)).map(toResponse) };
  }

  @Post()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({
    needs: 'a drive, and the key file of an account of it',
    body: {
      keyFileContent:
        '{"type": "service_account", "project_id": "example", "client_email": "agent@example.iam.gserviceaccount.com", "private_key_id": "1", "private_key": "<PEM>"}',
    },
  })
  @ApiOperation({
    operationId: 'addDriveServiceAccount',
    summary: 'Add a drive service account',
    description:
      'The key is checked against the drive before it is stored, encrypted; it is never shown again. A key that the drive refuses answers 400 ' +
      'with the reason. An account that the organization already has answers 409 service_account_exists. Addresses in the key file are not used.',
  })
  @ApiCreatedResponse({ type: ServiceAccountResponse })
  @ApiErrors(new ServiceAccountExists('agent@example.iam.gserviceaccount.com'), 502)
  async add(
    @Caller() caller: ApiKeyPrincipal,
    @Body() { keyFileContent }: AddServiceAccountBody,
  ): Promise<ServiceAccountResponse> {
    return toResponse(await this.accounts.add(caller, keyFileContent));
  }

  @Delete(':id')
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiExample({ path: { id: EXAMPLE_IDS.serviceAccount }, needs: 'a drive, and a service account of it' })
  @ApiOperation({
    operationId: 'deleteDriveServiceAccount',
    summary: 'Delete a drive service account',
    description:
      'Also deletes the drive settings of agents that use it, and shortly after their documents. For owners, admins and the person who added it; other callers ' +
      'receive 403 forbidden_service_account_manage.',
  })
  @ApiOkResponse({ type: DeletedServiceAccountResponse })
  @ApiErrors(new ForbiddenServiceAccountManage(), 404)
  async remove(@Caller() caller: ApiKeyPrincipal, @UuidParam('id') id: string): Promise<DeletedServiceAccountResponse> {
    await this.accounts.remove(caller, id);
    return { id, deleted: true };
  }
}

function toResponse(account: ListedServiceAccount): ServiceAccountResponse {
  const { id, clientEmail, projectId, addedBy, createdAt, agentCount } = account;
  return { id, clientEmail, projectId, addedBy, createdAt: createdAt.toISOString(), agentCount };
}
