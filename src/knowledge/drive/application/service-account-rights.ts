import { Injectable } from '@nestjs/common';
import { MemberDirectory, type ApiKeyPrincipal } from '../../../access/index.js';

/** Owners and admins use and delete every service account of the organization, members those that they have added. */
@Injectable()
export class ServiceAccountRights {
  constructor(private readonly members: MemberDirectory) {}

  /** Whether the person who owns the key may do so with each account. */
  async of({ organizationId, memberId }: ApiKeyPrincipal): Promise<(account: { readonly addedBy: string }) => boolean> {
    const role = await this.members.roleOf(organizationId, memberId);
    const isAdmin = role === 'owner' || role === 'admin';
    return ({ addedBy }) => isAdmin || addedBy === memberId;
  }
}
