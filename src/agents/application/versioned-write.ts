import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import type { Agent } from '../domain/agent.js';
import type { ChangedBy, FieldChange } from '../domain/agent-version.js';
import { AgentChanged } from '../domain/agents.events.js';
import { AgentNotFound, VersionConflict } from '../domain/agents.errors.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';
import { type VersionedPart, VersionedParts } from './versioned-parts.js';

export interface WriteTarget {
  readonly organizationId: string;
  readonly agentId: string;
  readonly changedBy: ChangedBy;
  /** The versions that the write may find; undefined for any. */
  readonly ifMatch?: readonly number[] | undefined;
}

export interface Written<Result> {
  readonly result: Result;
  /** Empty when nothing differs. */
  readonly changes: readonly FieldChange[];
}

export interface Changed<Result> {
  readonly result: Result;
  /** The agent's version after the write. */
  readonly version: number;
}

type Work<Result> = (transaction: Transaction, agent: Agent) => Promise<Written<Result>>;

/** The only way to change an agent. Writes of one agent are serialized by a row lock; each creates one version or none. */
@Injectable()
export class VersionedWrite {
  constructor(
    private readonly database: Database,
    private readonly agents: AgentsRepository,
    private readonly versions: AgentVersionsRepository,
    private readonly parts: VersionedParts,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Runs `work` in a transaction that has locked the agent. `work` runs again after a deadlock, so it must not have effects
   * outside the database.
   * @throws AgentNotFound, VersionConflict
   */
  async run<Result>(target: WriteTarget, work: Work<Result>): Promise<{ result: Result; agent: Agent }> {
    const { organizationId, agentId, ifMatch, changedBy } = target;
    return this.write(changedBy, work, async (transaction) => {
      const agent = await this.agents.findForUpdate(transaction, organizationId, agentId);
      if (!agent?.managedByApi) throw new AgentNotFound();
      if (ifMatch?.includes(agent.version) === false) throw new VersionConflict(agent.version);
      return agent;
    });
  }

  /** As `run`, for the operator: an agent of any organization and any type. @throws AgentNotFound */
  async runForOperator<Result>(
    agentId: string,
    changedBy: ChangedBy,
    work: Work<Result>,
  ): Promise<{ result: Result; agent: Agent }> {
    return this.write(changedBy, work, async (transaction) => {
      const agent = await this.agents.findAnyForUpdate(transaction, agentId);
      if (!agent) throw new AgentNotFound();
      return agent;
    });
  }

  private async write<Result>(
    changedBy: ChangedBy,
    work: Work<Result>,
    lock: (transaction: Transaction) => Promise<Agent>,
  ): Promise<{ result: Result; agent: Agent }> {
    const { agent, result, hasChanged } = await this.database.transaction(async (transaction) => {
      const agent = await lock(transaction);
      const { result, changes } = await work(transaction, agent);
      if (changes.length > 0) await this.record(transaction, agent, changes, changedBy);
      return { agent, result, hasChanged: changes.length > 0 };
    });
    if (hasChanged) this.events.publish(new AgentChanged(agent.organizationId, agent.id, agent.version));
    return { result, agent };
  }

  private async record(
    transaction: Transaction,
    agent: Agent,
    changes: readonly FieldChange[],
    changedBy: ChangedBy,
  ): Promise<void> {
    agent.enterNextVersion(this.clock.now());
    // Before the snapshots, which must read what this write stored.
    await transaction.em.flush();
    const { version, updatedAt: createdAt } = agent;
    const touched = new Set(changes.map((change) => this.parts.of(change)));
    const snapshots: Record<string, unknown> = {};
    for (const part of touched) Object.assign(snapshots, await snapshotOf(part, transaction, agent));
    await this.versions.add(transaction, agent, { version, createdAt, changedBy, changes }, snapshots);
  }
}

async function snapshotOf(
  part: VersionedPart | undefined,
  transaction: Transaction,
  agent: Agent,
): Promise<Readonly<Record<string, unknown>>> {
  if (!part) return agent.snapshots();
  return { [part.field]: await part.snapshot(transaction, agent.organizationId, agent.id) };
}

/** Writes of other contexts to their versioned parts of an agent; see `VersionedPart`. */
@Injectable()
export class AgentWrites {
  constructor(private readonly writes: VersionedWrite) {}

  /**
   * Opens a transaction, locks the agent and runs `work`. The changes that `work` returns become one version of the agent, in the
   * same transaction; without changes there is no version. `AgentChanged` is published after the commit. `work` runs again after
   * a deadlock, so it must not have effects outside the database.
   * @throws AgentNotFound; VersionConflict when `ifMatch` lacks the agent's version
   */
  async change<Result>(
    target: WriteTarget,
    work: (transaction: Transaction) => Promise<Written<Result>>,
  ): Promise<Changed<Result>> {
    const { result, agent } = await this.writes.run(target, work);
    return { result, version: agent.version };
  }
}
