import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Member } from '../domain/member.js';

@Injectable()
export class MemberRepository {
  constructor(private readonly database: Database) {}

  async add({ em }: Transaction, member: Member): Promise<void> {
    await em.persist(member).flush();
  }

  find(organizationId: string, id: string): Promise<Member | null> {
    return this.database.read((em) => em.findOne(Member, { organizationId, id }));
  }

  /** The organization's members, oldest first. */
  list(organizationId: string): Promise<Member[]> {
    return this.database.read((em) => em.find(Member, { organizationId }, { orderBy: { id: 'asc' } }));
  }

  /** The organization's first owner. */
  findOwner(organizationId: string): Promise<Member | null> {
    return this.database.read((em) =>
      em.findOne(Member, { organizationId, role: 'owner' }, { orderBy: { id: 'asc' } }),
    );
  }
}
