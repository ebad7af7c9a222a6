import type { ProviderSettings } from '../shared/provider.js';

/** The provider's agents have no settings of their own. */
export interface GeminiOptions {
  readonly type: 'gemini';
}

const NONE: GeminiOptions = { type: 'gemini' };

export const geminiSettings: ProviderSettings<GeminiOptions, GeminiOptions> = {
  initial: NONE,
  quick: NONE,
  merge: () => NONE,
  describe: () => ({}),
};
