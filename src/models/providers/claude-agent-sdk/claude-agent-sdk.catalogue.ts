import type { CatalogueModel } from '../../domain/catalogue-model.js';
import { ANTHROPIC_MODELS } from '../anthropic/anthropic.catalogue.js';
import { GEMINI_MODELS } from '../gemini/gemini.catalogue.js';
import { OPENAI_MODELS } from '../openai-responses/openai-responses.catalogue.js';

/** Of the default among several families that of the first. Agents have no setting of thinking or temperature. */
export const CLAUDE_AGENT_MODELS: readonly CatalogueModel[] = [
  ...ANTHROPIC_MODELS.map((model) => ({ ...model, thinking: 'none' as const, takesTemperature: false })),
  ...[...OPENAI_MODELS, ...GEMINI_MODELS].map((model) => ({ ...model, isDefault: false })),
];
