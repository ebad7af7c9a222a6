import type { CatalogueModel } from '../../domain/catalogue-model.js';
import { ANTHROPIC_MODELS } from '../anthropic/anthropic.catalogue.js';
import { GEMINI_MODELS } from '../gemini/gemini.catalogue.js';
import { OPENAI_MODELS } from '../openai-responses/openai-responses.catalogue.js';

/** The default is that of the first family. Agents have no settings for thinking and temperature. */
export const CLAUDE_AGENT_MODELS: readonly CatalogueModel[] = [
  ...ANTHROPIC_MODELS.map((model) => ({ ...model, thinking: 'none' as const, takesTemperature: false })),
  ...[...OPENAI_MODELS, ...GEMINI_MODELS].map((model) => ({ ...model, isDefault: false })),
];
