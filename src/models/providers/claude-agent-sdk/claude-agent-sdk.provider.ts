import { OWN_KEY_FOR_GOOD } from '../shared/own-key.js';
import { defineProvider } from '../shared/provider.js';
import { CLAUDE_AGENT_MODELS } from './claude-agent-sdk.catalogue.js';
import { claudeAgentSettings } from './claude-agent-sdk.settings.js';

/** Runs agents in the loop of the Claude Agent SDK (`loop/`). */
export const claudeAgentSdk = defineProvider({
  type: 'claude-agent-sdk',
  feature: 'claude_agent_sdk',
  models: CLAUDE_AGENT_MODELS,
  settings: claudeAgentSettings,
  ownKey: OWN_KEY_FOR_GOOD,
  responseComponents: ['choiceButtons'],
  maxTimeoutMinutes: 10,
});
