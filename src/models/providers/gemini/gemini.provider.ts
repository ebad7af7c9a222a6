import { OPTIONAL_OWN_KEY } from '../shared/own-key.js';
import { type ApiProvider, withoutSettings } from '../shared/provider.js';
import { GEMINI_MODELS } from './gemini.catalogue.js';

export const gemini: ApiProvider<{ readonly type: 'gemini' }> = {
  type: 'gemini',
  runtime: async () => (await import('./gemini.runtime.js')).GeminiRuntime,
  models: GEMINI_MODELS,
  settings: withoutSettings('gemini'),
  environment: 'GEMINI',
  telemetryName: 'gcp.gemini',
  ownKey: OPTIONAL_OWN_KEY,
  keyPrefixes: ['AIza', 'AQ.'],
  responseComponents: [],
  // Google's documentation lists PNG, JPEG, WebP, HEIC and HEIF.
  refusedMediaTypes: ['image/gif'],
};
