import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../../access/index.js';
import { ApiErrors, OpenApiDocument } from '../../platform/http/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { AppListResponse } from './apps.dto.js';
import { ManagedMcpBody } from './tool-integration-request.dto.js';

@ApiTags('Tool integrations')
@Controller('v1/integrations/apps')
export class AppsController {
  constructor(
    private readonly catalogue: AppCatalogue,
    document: OpenApiDocument,
  ) {
    const slugs = catalogue.all().map(({ slug }) => slug);
    document.enumerate(ManagedMcpBody.name, 'app', slugs);
  }

  @Get()
  @Access({ scope: 'none' })
  @ApiOperation({ operationId: 'listApps', summary: 'List the apps that managed integrations may be for' })
  @ApiOkResponse({ type: AppListResponse })
  @ApiErrors(401)
  list(): AppListResponse {
    const apps = this.catalogue.all();
    return {
      apps: apps.map(({ slug, name, transport, oauth, envNames }) => ({ slug, name, transport, oauth, envNames })),
    };
  }
}
