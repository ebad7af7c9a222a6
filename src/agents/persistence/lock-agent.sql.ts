/** SQL because the contexts that lock agents have no entity of them, and their row is needed only as a lock. */
import { type SqlExecutor, statement } from '../../platform/database/index.js';
import type { AgentType } from '../domain/agent-type.js';

const locking = (lock: string) =>
  statement(
    { organizationId: 'uuid', agentId: 'uuid' },
    (p) => `select type from agents where organization_id = ${p.organizationId} and id = ${p.agentId} ${lock}`,
  );

const LOCKS = { shared: locking('for key share'), exclusive: locking('for no key update') };

/**
 * Prevents the agent's deletion until the transaction ends; `exclusive` also serializes the transactions that take it.
 * A deletion that is under way ends first: its job would not see rows that are inserted now.
 * @returns the agent's type; null when the agent does not exist
 */
export async function lockAgent(
  transaction: SqlExecutor,
  organizationId: string,
  agentId: string,
  lock: keyof typeof LOCKS,
): Promise<AgentType | null> {
  const [agent] = await LOCKS[lock].run<{ type: AgentType }>(transaction, { organizationId, agentId });
  return agent?.type ?? null;
}
