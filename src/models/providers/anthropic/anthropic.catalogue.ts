import type { Model } from '@anthropic-ai/sdk/resources/messages';
import { type CatalogueModel, type PublishedId, rate, TIER, USUAL_MODEL } from '../../domain/catalogue-model.js';

const CLAUDE = {
  ...USUAL_MODEL,
  family: 'claude',
  thinking: 'adaptive',
  contextTokens: 1_000_000,
  historyCharacters: 600_000,
} as const;

type Listed = CatalogueModel & { readonly id: PublishedId<Model> };

export const ANTHROPIC_MODELS: readonly Listed[] = [
  { ...CLAUDE, id: 'claude-fable-5-2', credits: TIER.top, alwaysThinks: true },
  { ...CLAUDE, id: 'claude-opus-5-5', credits: TIER.high, alwaysThinks: true },
  { ...CLAUDE, id: 'claude-opus-5', credits: rate(500) },
  { ...CLAUDE, id: 'claude-opus-4-8', credits: rate(500) },
  { ...CLAUDE, id: 'claude-sonnet-5-5', credits: TIER.mid, withoutThinking: 'between_tools', isDefault: true },
  { ...CLAUDE, id: 'claude-sonnet-5', credits: TIER.mid },
  { ...CLAUDE, id: 'claude-sonnet-4-6', credits: rate(300), takesTemperature: true },
  { ...CLAUDE, id: 'claude-haiku-5-5', credits: rate(100) },
  {
    ...CLAUDE,
    id: 'claude-haiku-4-5',
    contextTokens: 200_000,
    credits: rate(100),
    thinking: 'budget',
    takesTemperature: true,
  },
];
