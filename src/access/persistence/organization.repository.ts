import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { OrganizationNotFound } from '../domain/access.errors.js';
import { CreditAllowance } from '../domain/credit-allowance.js';
import { Organization } from '../domain/organization.js';
import type { Retention } from '../domain/retention.js';

const FIRST_ORGANIZATION_LOCK = 'access.first-organization';

@Injectable()
export class OrganizationRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, organization: Organization): Promise<void> {
    await em.persist(organization).flush();
  }

  /** Adds the organization's present `creditsIncluded` to the history. */
  addAllowance({ em }: Transaction, { id, creditsIncluded }: Organization, since: Date): void {
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

  /** @throws OrganizationNotFound */
  async get(id: string): Promise<Organization> {
    const organization = await this.find(id);
    if (!organization) throw new OrganizationNotFound(id);
    return organization;
  }

  /** Those that keep their conversations for a limited time. */
  async retentions(): Promise<Retention[]> {
    const fields = ['id', 'retainDays'] as const;
    const found = await this.database.read((em) => em.find(Organization, { retainDays: { $ne: null } }, { fields }));
    return found.map(({ id: organizationId, retainDays }) => ({ organizationId, days: retainDays ?? Infinity }));
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

  /** Locks the organization until the transaction ends. */
  findForChange({ em }: Transaction, id: string): Promise<Organization | null> {
    return em.findOne(Organization, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  }

  /**
   * Whether any organization exists. A lock serializes the callers, so that of several processes that start on an empty database
   * only one finds it empty.
   */
  async existsAny(transaction: Transaction): Promise<boolean> {
    await transaction.lock(FIRST_ORGANIZATION_LOCK);
    return (await transaction.em.find(Organization, {}, { fields: ['id'], limit: 1 })).length > 0;
  }
}
