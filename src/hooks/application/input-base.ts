import type { RunContext } from '../../conversations/index.js';
import type { InputBase } from '../domain/hook-input.js';

/** What every input says of a run. */
export function inputBaseOf({ threadId, runId, agent, userContext }: RunContext): InputBase {
  return { threadId, runId, agentId: agent.id, userContext };
}
