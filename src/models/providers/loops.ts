import { ClaudeAgentLoop } from './claude-agent-sdk/loop/claude-agent.loop.js';

/** The loops that providers bring; agents of all other types run on the engine's own. */
export const LOOPS = [ClaudeAgentLoop] as const;
