import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { OrganizationNotFound } from '../domain/access.errors.js';
import { OrganizationChanged } from '../domain/access.events.js';
import type { Organization, OrganizationSettings } from '../domain/organization.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

/** Changes plan, features, limits or credits. Other processes apply the change within seconds. */
@Injectable()
export class UpdateOrganization {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly organizations: OrganizationRepository,
  ) {}

  /** @throws OrganizationNotFound, ValidationFailed */
  async execute(id: string, settings: OrganizationSettings): Promise<Organization> {
    const changed = await this.database.transaction(async (transaction) => {
      const organization = await this.organizations.findForChange(transaction, id);
      if (!organization) throw new OrganizationNotFound(id);
      const before = organization.creditsIncluded;
      organization.configure(settings, this.clock.now());
      if (organization.creditsIncluded !== before) {
        this.organizations.addAllowance(transaction, organization, this.clock.now());
      }
      return organization;
    });
    this.events.publish(new OrganizationChanged(id));
    return changed;
  }
}
