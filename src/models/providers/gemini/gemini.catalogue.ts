import type { Interactions } from '@google/genai';
import { type CatalogueModel, type PublishedId, TIER, USUAL_MODEL } from '../../domain/catalogue-model.js';

const GEMINI = {
  ...USUAL_MODEL,
  family: 'gemini',
  contextTokens: 1_048_576,
  historyCharacters: 3_000_000,
} as const;

type Listed = CatalogueModel & { readonly id: PublishedId<Interactions.Model> };

export const GEMINI_MODELS: readonly Listed[] = [
  { ...GEMINI, id: 'gemini-4-carbon', credits: TIER.high, alwaysThinks: true },
  { ...GEMINI, id: 'gemini-4-argon', credits: TIER.high, alwaysThinks: true },
  { ...GEMINI, id: 'gemini-3.8-flash', credits: TIER.small, isDefault: true },
  { ...GEMINI, id: 'gemini-3.6-flash', credits: TIER.small },
  { ...GEMINI, id: 'gemini-3.5-flash-lite', credits: TIER.mini },
];
