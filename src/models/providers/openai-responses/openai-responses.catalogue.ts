import type { AllModels } from 'openai/resources/shared';
import { type CatalogueModel, type PublishedId, TIER, USUAL_MODEL } from '../../domain/catalogue-model.js';

const GPT = {
  ...USUAL_MODEL,
  family: 'openai',
  contextTokens: 1_050_000,
  historyCharacters: 800_000,
} as const;

type Listed = CatalogueModel & { readonly id: PublishedId<AllModels> };

export const OPENAI_MODELS: readonly Listed[] = [
  { ...GPT, id: 'gpt-5.5-pro', credits: TIER.top, ownKeyOnly: true },
  { ...GPT, id: 'gpt-5.2-pro', contextTokens: 400_000, credits: TIER.top, ownKeyOnly: true },
  { ...GPT, id: 'gpt-6-astra', credits: TIER.top },
  { ...GPT, id: 'gpt-6.1-sol', credits: TIER.mid, isDefault: true },
  { ...GPT, id: 'gpt-6.1-terra', credits: TIER.small },
  { ...GPT, id: 'gpt-6-sol', credits: TIER.mid },
  { ...GPT, id: 'gpt-6-luna', credits: TIER.mini },
  { ...GPT, id: 'gpt-5.6-sol', credits: TIER.high },
  { ...GPT, id: 'gpt-5.5', credits: TIER.high },
  { ...GPT, id: 'gpt-5.4', credits: TIER.mid },
  { ...GPT, id: 'gpt-5.4-mini', contextTokens: 400_000, credits: TIER.small },
];
