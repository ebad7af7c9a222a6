import { OrganizationNotFound } from '../domain/access.errors.js';
import type { Organization } from '../domain/organization.js';
import type { OrganizationRepository } from '../persistence/organization.repository.js';

/** Organizations for the operator, read from the database. */
export class ReadOrganizations {
  constructor(private readonly organizations: OrganizationRepository) {}

  /** Oldest first. */
  all(): Promise<Organization[]> {
    return this.organizations.list();
  }

  /** @throws OrganizationNotFound */
  async one(id: string): Promise<Organization> {
    const organization = await this.organizations.find(id);
    if (!organization) throw new OrganizationNotFound(id);
    return organization;
  }
}
