import { OPTIONAL_OWN_KEY } from '../shared/own-key.js';
import type { ApiProvider } from '../shared/provider.js';
import { OPENAI_MODELS } from './openai-responses.catalogue.js';
import { type OpenAiOptions, type OpenAiRequest, openAiSettings } from './openai-responses.settings.js';

export const openAiResponses: ApiProvider<OpenAiOptions, OpenAiRequest> = {
  type: 'openai-responses',
  runtime: async () => (await import('./openai-responses.runtime.js')).OpenAiResponsesRuntime,
  models: OPENAI_MODELS,
  settings: openAiSettings,
  environment: 'OPENAI',
  telemetryName: 'openai',
  ownKey: OPTIONAL_OWN_KEY,
  keyPrefixes: ['sk-'],
  gatewayPath: 'openai',
  responseComponents: 'all',
  refusedMediaTypes: [],
  fixedSemanticWeight: true,
};
