import type { CatalogueModel } from './catalogue-model.js';

/** Credits a million tokens cost; output costs five times the input on every tier. */
function rate(inputPerMillion: number): CatalogueModel['credits'] {
  return { inputPerMillion, outputPerMillion: inputPerMillion * 5 };
}

/** One credit stands for about a US cent of the provider's list price; top is five times mid. */
const TIER = { top: rate(1000), high: rate(400), mid: rate(200), small: rate(75), mini: rate(10) } as const;

const CLAUDE = {
  provider: 'anthropic',
  family: 'claude',
  alwaysThinks: false,
  thinking: 'adaptive',
  withoutThinking: 'disabled',
  takesTemperature: false,
  ownKeyOnly: false,
  isDefault: false,
} as const;

const OPENAI = {
  provider: 'openai-responses',
  family: 'openai',
  alwaysThinks: false,
  thinking: 'none',
  withoutThinking: 'disabled',
  takesTemperature: false,
  ownKeyOnly: false,
  isDefault: false,
} as const;

const GEMINI = { ...OPENAI, provider: 'gemini', family: 'gemini', takesTemperature: true } as const;

/** Every model, strongest first within its provider. Identifiers are those that the SDKs' own types publish. */
export const CATALOGUE_MODELS = [
  { ...CLAUDE, id: 'claude-fable-5-2', credits: TIER.top, alwaysThinks: true },
  { ...CLAUDE, id: 'claude-opus-5-5', credits: TIER.high, alwaysThinks: true },
  { ...CLAUDE, id: 'claude-opus-5', credits: rate(500) },
  { ...CLAUDE, id: 'claude-opus-4-8', credits: rate(500) },
  { ...CLAUDE, id: 'claude-sonnet-5-5', credits: TIER.mid, withoutThinking: 'between_tools', isDefault: true },
  { ...CLAUDE, id: 'claude-sonnet-5', credits: TIER.mid },
  { ...CLAUDE, id: 'claude-sonnet-4-6', credits: rate(300), takesTemperature: true },
  { ...CLAUDE, id: 'claude-haiku-5-5', credits: rate(100) },
  { ...CLAUDE, id: 'claude-haiku-4-5', credits: rate(100), thinking: 'budget', takesTemperature: true },

  { ...OPENAI, id: 'gpt-5.5-pro', credits: TIER.top, ownKeyOnly: true },
  { ...OPENAI, id: 'gpt-5.2-pro', credits: TIER.top, ownKeyOnly: true },
  { ...OPENAI, id: 'gpt-6-astra', credits: TIER.top },
  { ...OPENAI, id: 'gpt-6.1-sol', credits: TIER.mid, isDefault: true },
  { ...OPENAI, id: 'gpt-6.1-terra', credits: TIER.small },
  { ...OPENAI, id: 'gpt-6-sol', credits: TIER.mid },
  { ...OPENAI, id: 'gpt-6-luna', credits: TIER.mini },
  { ...OPENAI, id: 'gpt-5.6-sol', credits: TIER.high },
  { ...OPENAI, id: 'gpt-5.5', credits: TIER.high },
  { ...OPENAI, id: 'gpt-5.4', credits: TIER.mid },
  { ...OPENAI, id: 'gpt-5.4-mini', credits: TIER.small },

  { ...GEMINI, id: 'gemini-4-carbon', credits: TIER.high, alwaysThinks: true },
  { ...GEMINI, id: 'gemini-4-argon', credits: TIER.high, alwaysThinks: true },
  { ...GEMINI, id: 'gemini-3.8-flash', credits: TIER.small, isDefault: true },
  { ...GEMINI, id: 'gemini-3.6-flash', credits: TIER.small },
  { ...GEMINI, id: 'gemini-3.5-flash-lite', credits: TIER.mini },
] as const satisfies readonly CatalogueModel[];
