import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, databaseFailure, type Transaction } from '../../platform/database/index.js';
import { Agent } from '../domain/agent.js';

const CREATION_LOCK = 'agents:create:';

/** Agents of one organization at a time: whoever asks names it first. */
@Injectable()
export class AgentsRepository {
  constructor(private readonly database: Database) {}

  find(organizationId: string, id: string): Promise<Agent | null> {
    return reading(this.database.em().findOne(Agent, { organizationId, id }));
  }

  /** The little that a check needs; a prompt may be long. */
  async findCurrent(organizationId: string, id: string): Promise<Pick<Agent, 'id' | 'type' | 'version'> | null> {
    const [row] = await this.database.query<Pick<Agent, 'id' | 'type' | 'version'>>(
      'select id, type, version from agents where organization_id = $1 and id = $2',
      [organizationId, id],
    );
    return row ?? null;
  }

  findMany(organizationId: string, ids: readonly string[]): Promise<Agent[]> {
    return reading(this.database.em().find(Agent, { organizationId, id: { $in: [...ids] } }));
  }

  /**
   * By name, then id, each without its system prompt, which would be most of the answer.
   * @param ids null for every agent of the organization
   */
  list(organizationId: string, ids: ReadonlySet<string> | null): Promise<Omit<Agent, 'systemPrompt'>[]> {
    const where = ids === null ? { organizationId } : { organizationId, id: { $in: [...ids] } };
    return reading(
      this.database.em().find(Agent, where, { exclude: ['systemPrompt'], orderBy: [{ name: 'asc' }, { id: 'asc' }] }),
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
    await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [CREATION_LOCK + organizationId]);
    const [row] = await transaction.query<{ count: number }>(
      'select count(*)::int as count from agents where organization_id = $1',
      [organizationId],
    );
    return row?.count ?? 0;
  }

  add({ em }: Transaction, agent: Agent): Promise<void> {
    return em.persist(agent).flush();
  }

  /** @returns whether there was such an agent. Its sections and versions go with it. */
  async delete(transaction: Transaction, organizationId: string, id: string): Promise<boolean> {
    const gone = await transaction.query(
      `delete from agents where organization_id = $1 and id = $2 and type <> 'classic' returning id`,
      [organizationId, id],
    );
    return gone.length > 0;
  }
}

async function reading<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw databaseFailure(error);
  }
}
