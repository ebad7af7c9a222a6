import { OPTIONAL_OWN_KEY } from '../shared/own-key.js';
import { defineApiProvider } from '../shared/provider.js';
import { GEMINI_MODELS } from './gemini.catalogue.js';
import { geminiSettings } from './gemini.settings.js';

export const gemini = defineApiProvider({
  type: 'gemini',
  runtime: async () => (await import('./gemini.runtime.js')).GeminiRuntime,
  models: GEMINI_MODELS,
  settings: geminiSettings,
  environment: 'GEMINI',
  telemetryName: 'gcp.gemini',
  ownKey: OPTIONAL_OWN_KEY,
  keyPrefixes: ['AIza', 'AQ.'],
  responseComponents: [],
  // Google's documentation lists PNG, JPEG, WebP, HEIC and HEIF.
  refusedMediaTypes: ['image/gif'],
});
