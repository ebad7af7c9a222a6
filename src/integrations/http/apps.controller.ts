import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../../access/index.js';
import {
  BooleanField,
  EnumField,
  ObjectListField,
  OpenApiDocument,
  StringField,
  StringListField,
} from '../../platform/http/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { ManagedMcpBody } from './tool-integration-request.dto.js';

export class AppResponse {
  @StringField({ description: 'The `app` of an integration of type `managed-mcp`.', example: 'linear' })
  readonly slug!: string;
  @StringField({ example: 'Linear', description: 'For people.' })
  readonly name!: string;
  @EnumField(['remote', 'local'], {
    description: '`local`: a process that the service runs for this integration alone.',
  })
  readonly transport!: 'remote' | 'local';
  @BooleanField({ description: 'A person has to authorize the connection. Such an app takes no `secrets.envMap`.' })
  readonly oauth!: boolean;
  @StringListField({ description: 'The names that `secrets.envMap` has to have values for, and may have.' })
  readonly envNames!: readonly string[];
}

export class AppListResponse {
  @ObjectListField(() => AppResponse, { description: 'By slug.' })
  readonly apps!: readonly AppResponse[];
}

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
  list(): AppListResponse {
    const apps = this.catalogue.all();
    return {
      apps: apps.map(({ slug, name, transport, oauth, envNames }) => ({ slug, name, transport, oauth, envNames })),
    };
  }
}
