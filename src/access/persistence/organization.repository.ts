import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { CreditAllowance } from '../domain/credit-allowance.js';
import { Organization } from '../domain/organization.js';

/** Any constant: processes that start at once agree on it. */
const FIRST_ORGANIZATION_LOCK = 7_216_943_002;

@Injectable()
export class OrganizationRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, organization: Organization): Promise<void> {
    await em.persist(organization).flush();
  }

  /** Notes what the organization's months include from now on. */
  noteAllowance({ em }: Transaction, { id, creditsIncluded }: Organization, since: Date): void {
    em.persist(new CreditAllowance(newId(), id, since, creditsIncluded));
  }

  /** Oldest first. */
  allowances(organizationId: string): Promise<CreditAllowance[]> {
    return this.database.read((em) =>
      em.find(CreditAllowance, { organizationId }, { orderBy: [{ since: 'asc' }, { id: 'asc' }] }),
    );
  }

  find(id: string): Promise<Organization | null> {
    return this.database.read((em) => em.findOne(Organization, { id }));
  }

  /** Oldest first. */
  list(): Promise<Organization[]> {
    return this.database.read((em) => em.find(Organization, {}, { orderBy: { id: 'asc' } }));
  }

  findOldest(): Promise<Organization | null> {
    return this.database.read(
      async (em) => (await em.find(Organization, {}, { orderBy: { id: 'asc' }, limit: 1 }))[0] ?? null,
    );
  }

  /** The organization, which no other transaction changes until this one ends. */
  findForChange({ em }: Transaction, id: string): Promise<Organization | null> {
    return em.findOne(Organization, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /**
   * Whether there is any organization. Transactions that ask do so one after the other, so that of
   * several processes that start on an empty database one alone finds it empty.
   */
  async existsAny(transaction: Transaction): Promise<boolean> {
    // Neither the ORM nor its builder has a word for such a lock.
    await transaction.query('select pg_advisory_xact_lock($1)', [FIRST_ORGANIZATION_LOCK]);
    return (await transaction.em.find(Organization, {}, { fields: ['id'], limit: 1 })).length > 0;
  }
}
