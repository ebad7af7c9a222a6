import type { RunContext } from '../../conversations/index.js';
import type { MemoryOwner } from '../domain/memory.js';

export interface OwnedRun {
  readonly owner: MemoryOwner;
  readonly runId: string;
}

/**
 * Whose memories the run reads and writes: those that its agent has of its user.
 * @returns null if the run names no user, or the agent's memory is off, or the agent is classic: the routes that show and erase
 * memories do not serve classic agents
 */
export function ownerOf({ organizationId, agent, userKey }: RunContext): MemoryOwner | null {
  if (!agent.longTermMemory || userKey === null || agent.type === 'classic') return null;
  return { organizationId, agentId: agent.id, userKey };
}
