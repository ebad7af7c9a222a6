import { checkEmail } from './text.js';

export const MEMBER_ROLES = ['owner', 'admin', 'member'] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** A person in one organization. */
export class Member {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly createdAt: Date;

  constructor(id: string, organizationId: string, email: string, role: MemberRole, createdAt: Date) {
    this.id = id;
    this.organizationId = organizationId;
    this.email = checkEmail(email);
    this.role = role;
    this.createdAt = createdAt;
  }

  /** Owners and admins issue API keys. */
  get mayIssueApiKeys(): boolean {
    return this.role === 'owner' || this.role === 'admin';
  }
}
