import type { RunContext } from '../../conversations/index.js';
import type { MemoryOwner } from '../domain/memory.js';

/**
 * The owner of the memories that the run reads and writes: the run's agent and user.
 * @returns null if the run names no user, or the agent's memory is off, or the agent is classic: the routes that show and erase
 * memories do not serve classic agents
 */
export function ownerOf({ organizationId, agent, userKey }: RunContext): MemoryOwner | null {
  if (!agent.longTermMemory || userKey === null || agent.type === 'classic') return null;
  return { organizationId, agentId: agent.id, userKey };
}
