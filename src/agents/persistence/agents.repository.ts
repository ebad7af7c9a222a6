import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Agent } from '../domain/agent.js';

const CREATION_LOCK = 'agents:create:';

@Injectable()
export class AgentsRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, id: string): Promise<Agent | null> {
    return this.database.read((em) => em.findOne(Agent, { organizationId, id }));
  }

  /** Only what a check needs, because a prompt may be long. */
  findCurrent(organizationId: string, id: string): Promise<Pick<Agent, 'id' | 'type' | 'version'> | null> {
    return this.database.read((em) => em.findOne(Agent, { organizationId, id }, { fields: ['id', 'type', 'version'] }));
  }

  findMany(organizationId: string, ids: readonly string[]): Promise<Agent[]> {
    return this.database.read((em) => em.find(Agent, { organizationId, id: { $in: [...ids] } }));
  }

  /**
   * By name and id, without the system prompts, which may be long.
   * @param ids null for all agents of the organization
   */
  list(organizationId: string, ids: ReadonlySet<string> | null): Promise<Omit<Agent, 'systemPrompt'>[]> {
    const where = ids === null ? { organizationId } : { organizationId, id: { $in: [...ids] } };
    return this.database.read((em) =>
      em.find(Agent, where, { exclude: ['systemPrompt'], orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
    );
  }

  /** Locks the agent until the transaction ends. */
  findForUpdate({ em }: Transaction, organizationId: string, id: string): Promise<Agent | null> {
    return em.findOne(Agent, { organizationId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** As `findForUpdate`, for the operator: an agent of any organization. */
  findAnyForUpdate({ em }: Transaction, id: string): Promise<Agent | null> {
    return em.findOne(Agent, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** Serializes the creations of an organization, so that the count stays right until the transaction ends. */
  async countForCreation(transaction: Transaction, organizationId: string): Promise<number> {
    await transaction.lock(CREATION_LOCK + organizationId);
    return transaction.em.count(Agent, { organizationId });
  }

  add({ em }: Transaction, agent: Agent): Promise<void> {
    return em.persist(agent).flush();
  }

  /** Sections and versions are deleted by foreign keys. @returns whether the agent existed */
  async delete({ em }: Transaction, organizationId: string, id: string): Promise<boolean> {
    return (await em.nativeDelete(Agent, { organizationId, id })) > 0;
  }
}
