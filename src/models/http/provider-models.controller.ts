import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../../access/index.js';
import { PROVIDERS } from '../providers/index.js';
import { ProviderModelListResponse, providerModelView } from './provider-models.dto.js';

const CATALOGUE = {
  models: PROVIDERS.flatMap(({ type, models }) => models.map((model) => providerModelView(type, model))),
};

@ApiTags('Agents')
@Controller('v1/provider-models')
export class ProviderModelsController {
  @Get()
  @Access({ scope: 'none' })
  @ApiOperation({
    operationId: 'listProviderModels',
    summary: 'List the models that agents can run on',
    description: 'The values that `provider.model` of an agent may have.',
  })
  @ApiOkResponse({ type: ProviderModelListResponse })
  list(): ProviderModelListResponse {
    return CATALOGUE;
  }
}
