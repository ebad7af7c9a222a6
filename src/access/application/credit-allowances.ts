import { Injectable } from '@nestjs/common';
import type { CreditAllowance } from '../domain/credit-allowance.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

/** The history of the credits that each month of an organization includes, for other contexts. */
@Injectable()
export class CreditAllowances {
  constructor(private readonly organizations: OrganizationRepository) {}

  /** Oldest first, one for each change. */
  of(organizationId: string): Promise<readonly CreditAllowance[]> {
    return this.organizations.allowances(organizationId);
  }
}
