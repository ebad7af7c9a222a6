import { OWN_KEY_FOR_GOOD } from '../shared/own-key.js';
import { defineUnavailableProvider } from '../shared/provider.js';

/** The agent runtime that brings a loop of its own; this installation does not have it. */
export const claudeAgentSdk = defineUnavailableProvider({
  type: 'claude-agent-sdk',
  feature: 'claude_agent_sdk',
  ownKey: OWN_KEY_FOR_GOOD,
  responseComponents: ['choiceButtons'],
});
