import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Agent } from '../domain/agent.js';

const CREATION_LOCK = 'agents:create:';

/** Agents of one organization at a time: whoever asks names it first. */
@Injectable()
export class AgentsRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, id: string): Promise<Agent | null> {
    return this.database.read((em) => em.findOne(Agent, { organizationId, id }));
  }

  /** The little that a check needs; a prompt may be long. */
  findCurrent(organizationId: string, id: string): Promise<Pick<Agent, 'id' | 'type' | 'version'> | null> {
    return this.database.read((em) => em.findOne(Agent, { organizationId, id }, { fields: ['id', 'type', 'version'] }));
  }

  findMany(organizationId: string, ids: readonly string[]): Promise<Agent[]> {
    return this.database.read((em) => em.find(Agent, { organizationId, id: { $in: [...ids] } }));
  }

  /**
   * By name, then id, each without its system prompt, which would be most of the answer.
   * @param ids null for every agent of the organization
   */
  list(organizationId: string, ids: ReadonlySet<string> | null): Promise<Omit<Agent, 'systemPrompt'>[]> {
    const where = ids === null ? { organizationId } : { organizationId, id: { $in: [...ids] } };
    return this.database.read((em) =>
      em.find(Agent, where, { exclude: ['systemPrompt'], orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
    );
  }

  /** Keeps other changes of the agent out until the transaction ends. */
  findForUpdate({ em }: Transaction, organizationId: string, id: string): Promise<Agent | null> {
    return em.findOne(Agent, { organizationId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** As `findForUpdate`, whatever its organization: for the operator. */
  findAnyForUpdate({ em }: Transaction, id: string): Promise<Agent | null> {
    return em.findOne(Agent, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /** One creation of an organization at a time, so that the count holds until this one is stored. */
  async countForCreation(transaction: Transaction, organizationId: string): Promise<number> {
    // Neither the ORM nor its builder has a word for such a lock.
    await transaction.lock(CREATION_LOCK + organizationId);
    return transaction.em.count(Agent, { organizationId });
  }

  add({ em }: Transaction, agent: Agent): Promise<void> {
    return em.persist(agent).flush();
  }

  /** @returns whether there was such an agent. Its sections and versions go with it. */
  async delete({ em }: Transaction, organizationId: string, id: string): Promise<boolean> {
    return (await em.nativeDelete(Agent, { organizationId, id })) > 0;
  }
}
