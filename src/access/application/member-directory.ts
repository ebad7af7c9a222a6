import { Injectable } from '@nestjs/common';
import type { MemberRole } from '../domain/member.js';
import { MemberRepository } from '../persistence/member.repository.js';

/** Members, for other contexts. Reads the database. */
@Injectable()
export class MemberDirectory {
  constructor(private readonly members: MemberRepository) {}

  /** @returns null when the organization has no such member */
  async roleOf(organizationId: string, memberId: string): Promise<MemberRole | null> {
    return (await this.members.find(organizationId, memberId))?.role ?? null;
  }
}
