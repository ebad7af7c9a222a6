import { OPTIONAL_OWN_KEY } from '../shared/own-key.js';
import type { ApiProvider } from '../shared/provider.js';
import { ANTHROPIC_MODELS } from './anthropic.catalogue.js';
import { type AnthropicOptions, type AnthropicRequest, anthropicSettings } from './anthropic.settings.js';

export const anthropic: ApiProvider<AnthropicOptions, AnthropicRequest> = {
  type: 'anthropic',
  runtime: async () => (await import('./anthropic.runtime.js')).AnthropicRuntime,
  models: ANTHROPIC_MODELS,
  settings: anthropicSettings,
  environment: 'ANTHROPIC',
  telemetryName: 'anthropic',
  ownKey: OPTIONAL_OWN_KEY,
  keyPrefixes: ['sk-ant-'],
  gatewayPath: 'anthropic',
  responseComponents: 'all',
  refusedMediaTypes: [],
};
