import { z } from 'zod';
import { type Stored, storedObject } from '../../../platform/stored-json/index.js';
import type { ProviderSettings } from '../shared/provider.js';

/** Agents of the provider have no settings. */
const stored = storedObject({ type: z.literal('gemini') });
export type GeminiOptions = Stored<typeof stored>;

const NONE: GeminiOptions = { type: 'gemini' };

export const geminiSettings: ProviderSettings<GeminiOptions, GeminiOptions> = {
  stored,
  initial: NONE,
  quick: NONE,
  merge: (current) => current,
  describe: () => ({}),
};
