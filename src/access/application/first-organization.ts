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

/** The organization that the first start has made, for a part of the process that is a customer of the service itself. */
@Injectable()
export class FirstOrganization {
  constructor(
    private readonly organizations: OrganizationRepository,
    private readonly updateOrganization: UpdateOrganization,
    private readonly keys: ApiKeyRepository,
    private readonly issueApiKey: IssueApiKey,
    private readonly revokeApiKey: RevokeApiKey,
  ) {}

  /** @returns null before there is any */
  async id(): Promise<string | null> {
    return (await this.organizations.findOldest())?.id ?? null;
  }

  /** Switches features on; those that are on stay so. */
  async enable(organizationId: string, features: readonly Feature[]): Promise<void> {
    const organization = await this.organizations.find(organizationId);
    const off = new Set<string>(features.map((feature) => `-${feature}`));
    const before = (organization?.features ?? []).filter((choice) => !off.has(choice));
    await this.updateOrganization.execute(organizationId, { features: [...before, ...features] });
  }

  /** @returns a new key, which is kept in memory alone; one of this name that an earlier process had is revoked */
  async newKey(organizationId: string, { name, capabilities }: KeyRequest): Promise<string> {
    for (const earlier of await this.keys.list(organizationId)) {
      if (earlier.name === name) await this.revokeApiKey.execute(organizationId, earlier.id);
    }
    return (await this.issueApiKey.byOperator(organizationId, undefined, { name, capabilities })).key;
  }
}
