import type { CatalogueModel } from '../../domain/catalogue-model.js';
import { ANTHROPIC_MODELS } from '../anthropic/anthropic.catalogue.js';
import { GEMINI_MODELS } from '../gemini/gemini.catalogue.js';
import { OPENAI_MODELS } from '../openai-responses/openai-responses.catalogue.js';
import { IRREVOCABLE_OWN_KEY } from '../shared/own-key.js';
import { type Provider, withoutSettings } from '../shared/provider.js';

/** The default is that of the first family. Agents have no settings for thinking and temperature. */
const MODELS: readonly CatalogueModel[] = [
  ...ANTHROPIC_MODELS.map((model) => ({ ...model, thinking: 'none' as const, takesTemperature: false })),
  ...[...OPENAI_MODELS, ...GEMINI_MODELS].map((model) => ({ ...model, isDefault: false })),
];

interface Options {
  readonly type: 'claude-agent-sdk';
  /** Asks for a fast response; never stored. */
  readonly quick?: true;
}

/** Runs agents in the loop of the Claude Agent SDK (`loop/`). */
export const claudeAgentSdk: Provider<Options> = {
  type: 'claude-agent-sdk',
  feature: 'claude_agent_sdk',
  models: MODELS,
  settings: { ...withoutSettings('claude-agent-sdk'), quick: { type: 'claude-agent-sdk', quick: true } },
  ownKey: IRREVOCABLE_OWN_KEY,
  responseComponents: ['choiceButtons'],
  maxTimeoutMinutes: 10,
};
