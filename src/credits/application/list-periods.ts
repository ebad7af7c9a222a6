import { Injectable } from '@nestjs/common';
import { includedBefore, OrganizationDirectory } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Cursors, type Page } from '../../platform/cursors/index.js';
import { monthAfter, type Period, periodId } from '../domain/period.js';
import { CreditPeriodRepository } from '../persistence/credit-period.repository.js';

/** Lists all months of an organization up to the current one, newest first, including months without use. */
@Injectable()
export class ListPeriods {
  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly months: CreditPeriodRepository,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed for a cursor that this list has not issued */
  async execute(organizationId: string, cursor: string | undefined, limit: number): Promise<Page<Period>> {
    const scope = { list: 'credit-periods', organizationId };
    const [before] = this.cursors.read(scope, cursor);
    const now = this.clock.now();
    const organization = await this.organizations.find(organizationId);
    const allowances = await this.organizations.creditAllowances(organizationId);
    const found = await this.months.list(organizationId, {
      since: organization?.createdAt ?? now,
      now,
      before: before === undefined ? null : new Date(before),
      limit: limit + 1,
    });
    const periods = found.map(({ month, creditsUsed }) => {
      const endsAt = monthAfter(month);
      const creditsIncluded = includedBefore(allowances, endsAt);
      return { id: periodId(organizationId, month), startsAt: month, endsAt, creditsUsed, creditsIncluded };
    });
    return this.cursors.page(scope, periods, limit, ({ startsAt }) => [startsAt.toISOString()]);
  }
}
