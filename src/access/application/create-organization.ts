import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { Member } from '../domain/member.js';
import { Organization, type OrganizationSettings } from '../domain/organization.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

/** The owner's address when the operator gives none. */
const DEFAULT_OWNER = 'owner@localhost';

export interface NewOrganization extends OrganizationSettings {
  readonly name: string;
  readonly ownerEmail?: string;
}

export interface CreatedOrganization {
  readonly organization: Organization;
  readonly owner: Member;
}

/** Creates an organization and its owner. */
@Injectable()
export class CreateOrganization {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly organizations: OrganizationRepository,
    private readonly members: MemberRepository,
  ) {}

  /** @throws ValidationFailed naming the setting */
  execute(request: NewOrganization): Promise<CreatedOrganization> {
    return this.database.transaction((transaction) => this.within(transaction, request));
  }

  /** As `execute`, in an open transaction. */
  async within(transaction: Transaction, request: NewOrganization): Promise<CreatedOrganization> {
    const now = this.clock.now();
    const organization = new Organization(newId(), request.name, now);
    organization.configure(request, now);
    const owner = new Member(newId(), organization.id, request.ownerEmail ?? DEFAULT_OWNER, 'owner', now);
    await this.organizations.add(transaction, organization);
    if (organization.creditsIncluded !== null) this.organizations.addAllowance(transaction, organization, now);
    await this.members.add(transaction, owner);
    return { organization, owner };
  }
}
