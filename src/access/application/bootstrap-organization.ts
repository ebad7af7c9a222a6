import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { CAPABILITIES } from '../domain/capability.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { CreateOrganization } from './create-organization.js';
import { IssueApiKey } from './issue-api-key.js';

export interface FirstKey {
  readonly organizationId: string;
  /** Not stored anywhere: the caller must show it to the operator. */
  readonly key: string;
}

/** Creates, at the first start, the organization `Default`, its owner and a key with every capability. */
@Injectable()
export class BootstrapOrganization {
  constructor(
    private readonly database: Database,
    private readonly organizations: OrganizationRepository,
    private readonly createOrganization: CreateOrganization,
    private readonly issueApiKey: IssueApiKey,
  ) {}

  /** @returns null when an organization exists. Of several processes that start at once, only one gets a key. */
  execute(): Promise<FirstKey | null> {
    return this.database.transaction(async (transaction) => {
      if (await this.organizations.existsAny(transaction)) return null;
      const { organization, owner } = await this.createOrganization.within(transaction, { name: 'Default' });
      const { key } = await this.issueApiKey.within(transaction, owner, {
        name: 'First key',
        capabilities: CAPABILITIES,
      });
      return { organizationId: organization.id, key };
    });
  }
}
