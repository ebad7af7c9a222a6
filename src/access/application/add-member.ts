import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, isForeignKeyViolation, isUniqueViolation } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { MemberExists, OrganizationNotFound } from '../domain/access.errors.js';
import { Member, MEMBER_ROLES } from '../domain/member.js';
import { checkOneOf } from '../domain/text.js';
import { MemberRepository } from '../persistence/member.repository.js';

export interface NewMember {
  readonly email: string;
  readonly role: string;
}

@Injectable()
export class AddMember {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly members: MemberRepository,
  ) {}

  /** @throws OrganizationNotFound, MemberExists, ValidationFailed */
  async execute(organizationId: string, request: NewMember): Promise<Member> {
    const role = checkOneOf('role', MEMBER_ROLES, request.role);
    const member = new Member(newId(), organizationId, request.email, role, this.clock.now());
    try {
      await this.database.transaction((transaction) => this.members.add(transaction, member));
    } catch (error) {
      if (isUniqueViolation(error, 'members_email_unique')) throw new MemberExists(member.email);
      if (isForeignKeyViolation(error)) throw new OrganizationNotFound(organizationId);
      throw error;
    }
    return member;
  }
}
