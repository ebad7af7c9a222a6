import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { CAPABILITIES, type Capability } from '../domain/capability.js';
import type { Feature } from '../domain/feature.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { CreateOrganization } from './create-organization.js';
import { IssueApiKey } from './issue-api-key.js';
import { RevokeApiKey } from './revoke-api-key.js';
import { UpdateOrganization } from './update-organization.js';

export interface FirstKey {
  readonly organizationId: string;
  /** Not stored anywhere: the caller must show it to the operator. */
  readonly key: string;
}

export interface KeyRequest {
  readonly name: string;
  readonly capabilities: readonly Capability[];
}

/** The organization `Default`, which the first start creates. The demo uses it as a customer of the service. */
@Injectable()
export class FirstOrganization {
  constructor(
    private readonly database: Database,
    private readonly organizations: OrganizationRepository,
    private readonly createOrganization: CreateOrganization,
    private readonly updateOrganization: UpdateOrganization,
    private readonly keys: ApiKeyRepository,
    private readonly issueApiKey: IssueApiKey,
    private readonly revokeApiKey: RevokeApiKey,
  ) {}

  /**
   * Creates it with its owner and a key with every capability.
   * @returns null when an organization exists. Of several processes that start at once, only one gets a key.
   */
  create(): Promise<FirstKey | null> {
    return this.database.transaction(async (transaction) => {
      if (await this.organizations.existsAny(transaction)) return null;
      const { organization, owner } = await this.createOrganization.within(transaction, { name: 'Default' });
      const request = { name: 'First key', capabilities: CAPABILITIES };
      const { key } = await this.issueApiKey.within(transaction, owner, request);
      return { organizationId: organization.id, key };
    });
  }

  /** @returns null when no organization exists yet */
  async id(): Promise<string | null> {
    return (await this.organizations.findOldest())?.id ?? null;
  }

  /** Enables features and keeps the others as they are. */
  async enable(organizationId: string, features: readonly Feature[]): Promise<void> {
    const organization = await this.organizations.find(organizationId);
    const off = new Set<string>(features.map((feature) => `-${feature}`));
    const before = (organization?.features ?? []).filter((choice) => !off.has(choice));
    await this.updateOrganization.execute(organizationId, { features: [...before, ...features] });
  }

  /** Revokes earlier keys of this name, which earlier processes used. @returns a new key, to be kept only in memory */
  async newKey(organizationId: string, { name, capabilities }: KeyRequest): Promise<string> {
    for (const earlier of await this.keys.list(organizationId)) {
      if (earlier.name === name) await this.revokeApiKey.execute(organizationId, earlier.id);
    }
    return (await this.issueApiKey.byOperator(organizationId, undefined, { name, capabilities })).key;
  }
}
