import type { Context } from '../platform/context/index.js';
import { GatewaysModule } from './gateways.module.js';
import { ModelsModule } from './models.module.js';
import { modelsSchema } from './persistence/models.schema.js';

export const modelsContext = {
  name: 'models',
  modules: [ModelsModule, GatewaysModule],
  schema: modelsSchema,
} satisfies Context;

export { GatewaysModule, ModelsModule, modelsSchema };
export { type EmbeddingFailure, EmbedTexts } from './application/embed-texts.js';
export { ModelGateway } from './application/model-gateway.js';
export { OrganizationGateways } from './application/organization-gateways.js';
export { QueryEmbeddings } from './application/query-embeddings.js';
export { type CatalogueModel, creditsFor } from './domain/catalogue-model.js';
export { AgentLoops, type LoopedRun } from './domain/agent-loop.js';
export { GatewayNotPermitted } from './domain/gateway.errors.js';
export {
  HEADER_TOKEN,
  MAX_GATEWAY_NAME,
  MAX_GATEWAY_TOKEN,
  type GatewayWithToken,
  type OrganizationGateway,
  PATH_PART,
} from './domain/gateway.js';
export type { ModelAttachment, ModelMedia } from './domain/model-attachment.js';
export { EmbeddingModel, type EmbeddingResult, MAX_EMBEDDED_TEXTS } from './domain/embedding-model.js';
export { ModelFailure, type ModelFailureCode, type SchemaRefusal } from './domain/model-failure.js';
export { modelMessage, responseFormat, toolResult } from './domain/model-runtime.js';
export type * from './domain/model-runtime.js';
export { acceptableSchema, MAX_SCHEMA_DEPTH } from './domain/acceptable-schema.js';
export { ANY_INPUT, withoutSchema } from './domain/any-input.js';
export { isJsonObject } from './domain/json-object.js';
export { addKnownUsage, addUsage, type ModelUsage, NO_USAGE, UNKNOWN_USAGE } from './domain/model-usage.js';
export { isRouted, ROUTED_TYPES } from './providers/gateway-routes.js';
export {
  MODEL_PROVIDERS,
  type ModelOptions,
  type ModelRequest,
  type OptionsRequest,
  PROVIDER_TYPES,
  PROVIDERS,
  type ProviderType,
  storedOptions,
} from './providers/index.js';
export {
  apiOf,
  checkProviderSettings,
  defaultModel,
  findModel,
  keyOwner,
  providerOf,
  providerTools,
  takesMediaType,
} from './providers/lookup.js';
export type { KeyChoice } from './providers/shared/own-key.js';
export type { ModelChoice } from './providers/shared/provider.js';
export { PROVIDER_BODIES } from './providers/service-parts.js';
export { ProviderResponse } from './providers/shared/provider.dto.js';
