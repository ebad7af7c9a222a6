import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { type AdmissionRequest, RunAdmission } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { CreditsExhausted } from '../domain/credits.errors.js';
import { monthAfter, monthOf } from '../domain/period.js';
import { CreditPeriodRepository } from '../persistence/credit-period.repository.js';

/**
 * Refuses runs of an organization that has used up its monthly credits, if it is set to block. A run's cost is known only at its end,
 * so runs that are under way when the last credit is used may exceed the limit.
 */
@Injectable()
export class RefuseExhausted extends RunAdmission {
  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly periods: CreditPeriodRepository,
    private readonly clock: Clock,
  ) {
    super();
  }

  /**
   * Reads the database only for organizations with a limit that blocks.
   * @throws CreditsExhausted
   */
  async admit({ organizationId, agent }: AdmissionRequest): Promise<void> {
    if (agent.provider.useOwnApiKey) return;
    const organization = await this.organizations.find(organizationId);
    if (organization?.creditsExhausted !== 'block' || organization.creditsIncluded === null) return;
    const month = monthOf(this.clock.now());
    const used = await this.periods.usedIn(organizationId, month);
    if (used >= organization.creditsIncluded)
      throw new CreditsExhausted(organization.creditsIncluded, monthAfter(month));
  }
}
