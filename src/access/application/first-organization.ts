import { Injectable } from '@nestjs/common';
import type { Capability } from '../domain/capability.js';
import type { Feature } from '../domain/feature.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { IssueApiKey } from './issue-api-key.js';
import { RevokeApiKey } from './revoke-api-key.js';
import { UpdateOrganization } from './update-organization.js';

export interface KeyRequest {
  readonly name: string;
  readonly capabilities: readonly Capability[];
}

/** The organization that the first start created. The demo uses it as a customer of the service. */
@Injectable()
export class FirstOrganization {
  constructor(
    private readonly organizations: OrganizationRepository,
    private readonly updateOrganization: UpdateOrganization,
    private readonly keys: ApiKeyRepository,
    private readonly issueApiKey: IssueApiKey,
    private readonly revokeApiKey: RevokeApiKey,
  ) {}

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
