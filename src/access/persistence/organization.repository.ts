import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { CreditAllowance } from '../domain/credit-allowance.js';
import { Organization } from '../domain/organization.js';

/** Processes that start at once on an empty database agree on it. */
const FIRST_ORGANIZATION_LOCK = 'access.first-organization';

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
    await transaction.lock(FIRST_ORGANIZATION_LOCK);
    return (await transaction.em.find(Organization, {}, { fields: ['id'], limit: 1 })).length > 0;
  }
}
