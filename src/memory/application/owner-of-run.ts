import type { RunContext } from '../../conversations/index.js';
import type { MemoryOwner } from '../domain/memory.js';

export interface OwnedRun {
  readonly owner: MemoryOwner;
  readonly runId: string;
}

/**
 * Whose memories a run reads and writes: those of the user that it names, by its own agent.
 * @returns null where it has none: nobody is named, or the agent's memory is off. Nor has a classic agent, since the routes
 * that show and erase a person's memories do not know it.
 */
export function ownerOf({ organizationId, agent, userKey }: RunContext): MemoryOwner | null {
  if (!agent.longTermMemory || userKey === null || agent.type === 'classic') return null;
  return { organizationId, agentId: agent.id, userKey };
}
