import { Injectable } from '@nestjs/common';
import type { CreditAllowance } from '../domain/credit-allowance.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

/** What the months of an organization have included, as operators have set it. */
@Injectable()
export class CreditAllowances {
  constructor(private readonly organizations: OrganizationRepository) {}

  /** Oldest first: one for each change, and none before the first. */
  of(organizationId: string): Promise<readonly CreditAllowance[]> {
    return this.organizations.allowances(organizationId);
  }
}
