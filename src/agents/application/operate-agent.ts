import type { Agent, OperatorSettings } from '../domain/agent.js';
import { BY_OPERATOR } from '../domain/agent-version.js';
import type { VersionedWrite } from './versioned-write.js';

/** Sets what only the operator sets; other processes follow within seconds. */
export class OperateAgent {
  constructor(private readonly writes: VersionedWrite) {}

  /** @throws AgentNotFound */
  async execute(agentId: string, settings: OperatorSettings): Promise<Agent> {
    const { agent } = await this.writes.runForOperator(agentId, BY_OPERATOR, (_transaction, agent) =>
      Promise.resolve({ result: undefined, changes: agent.operate(settings) }),
    );
    return agent;
  }
}
