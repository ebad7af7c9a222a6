import type { Context } from '../platform/context/index.js';
import { GatewaysModule } from './gateways.module.js';
import { ModelsModule } from './models.module.js';
import { modelsSchema } from './persistence/models.schema.js';

export const modelsContext = { name: 'models', modules: [ModelsModule, GatewaysModule], schema: modelsSchema } satisfies Context;

export { GatewaysModule, ModelsModule };
export { ModelGateway } from './application/model-gateway.js';
export { OrganizationGateways } from './application/organization-gateways.js';
export { creditsFor, defaultModel, findModel, modelsOf, type CatalogueModel } from './domain/catalogue.js';
export { GatewayNotPermitted } from './domain/gateway.errors.js';
export {
  type GatewayAddress,
  HEADER_TOKEN,
  isRouted,
  MAX_GATEWAY_NAME,
  MAX_GATEWAY_TOKEN,
  type OpenGateway,
  type OrganizationGateway,
  PATH_PART,
} from './domain/gateway.js';
export { type ModelAttachment, type ModelImageType, takesMediaType } from './domain/model-attachment.js';
export { ModelFailure, type ModelFailureCode } from './domain/model-failure.js';
export type * from './domain/model-runtime.js';
export { PROVIDER_TYPES, type ProviderType } from './domain/provider-type.js';
