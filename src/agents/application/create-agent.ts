import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { type SecretRef, Vault } from '../../platform/vault/index.js';
import { Agent, type NewAgent } from '../domain/agent.js';
import type { ChangedBy } from '../domain/agent-version.js';
import { AgentRefused } from '../domain/agents.errors.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';
import { gatewayTokenOf, providerKeyOf } from './agent-secrets.js';
import { CATALOGUE_CHOICES } from './catalogue-choices.js';
import { PlanLimits, requireProvider } from './plan-limits.js';

@Injectable()
export class CreateAgent {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly planLimits: PlanLimits,
    private readonly vault: Vault,
    private readonly versions: AgentVersionsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores the agent, its version 1 and its secrets in one transaction.
   * @throws ValidationFailed, AgentRefused, GatewayNotPermitted
   */
  async execute(organizationId: string, changedBy: ChangedBy, request: NewAgent): Promise<Agent> {
    const organization = await this.planLimits.requirePermitted(organizationId, request);
    requireProvider(organization, request.provider.type);
    const { agentLimit } = organization;
    const agent = Agent.create({ id: newId(), organizationId }, request, CATALOGUE_CHOICES, this.clock.now());
    const secrets = secretsOf(agent, request);
    await this.database.transaction(async (transaction) => {
      if (agentLimit !== null && (await this.agents.countForCreation(transaction, organizationId)) >= agentLimit) {
        throw limitReached(agentLimit);
      }
      await this.agents.add(transaction, agent);
      const { version, createdAt } = agent;
      await this.versions.add(transaction, agent, { version, createdAt, changedBy, changes: [] }, agent.snapshots());
      for (const { ref, secret } of secrets) await this.vault.put(transaction, ref, secret);
    });
    return agent;
  }
}

function secretsOf(agent: Agent, request: NewAgent): { ref: SecretRef; secret: string }[] {
  const { id, organizationId } = agent;
  const { apiKey } = request.provider;
  const secrets: { ref: SecretRef; secret: string }[] = [];
  if (apiKey !== undefined) secrets.push({ ref: providerKeyOf(organizationId, id), secret: apiKey });
  if (request.aiGateway?.enabled) {
    secrets.push({ ref: gatewayTokenOf(organizationId, id), secret: request.aiGateway.edgeApiToken });
  }
  return secrets;
}

function limitReached(limit: number): AgentRefused {
  return new AgentRefused(
    'agent_limit_reached',
    `The plan of this organization allows ${String(limit)} agents, and it already has that many. Delete one to create another.`,
  );
}
