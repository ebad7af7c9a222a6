import type { RunContext } from '../../conversations/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/** Classic agents have none, since the routes that show and erase memories do not serve them. */
export function hasMemory({ longTermMemory, type }: RunContext['agent']): boolean {
  return longTermMemory && type !== 'classic';
}

/**
 * The owner of the memories that the run reads and writes: the run's agent and user.
 * @returns null if the run names no user, or the agent has no memory
 */
export function ownerOf({ organizationId, agent, userKey }: RunContext): MemoryOwner | null {
  if (userKey === null || !hasMemory(agent)) return null;
  return { organizationId, agentId: agent.id, userKey };
}
