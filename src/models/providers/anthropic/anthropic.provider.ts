import { OPTIONAL_OWN_KEY } from '../shared/own-key.js';
import { defineProvider } from '../shared/provider.js';
import { ANTHROPIC_MODELS } from './anthropic.catalogue.js';
import { anthropicSettings } from './anthropic.settings.js';

export const anthropic = defineProvider({
  type: 'anthropic',
  runtime: async () => (await import('./anthropic.runtime.js')).AnthropicRuntime,
  models: ANTHROPIC_MODELS,
  settings: anthropicSettings,
  environment: 'ANTHROPIC',
  telemetryName: 'anthropic',
  ownKey: OPTIONAL_OWN_KEY,
  gatewayPath: 'anthropic',
  responseComponents: 'all',
  refusedMediaTypes: [],
});
