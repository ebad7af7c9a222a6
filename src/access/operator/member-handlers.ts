import { type CommandHandler, requiredOption } from '../../platform/command-line/index.js';
import { AddMember } from '../application/add-member.js';
import { ReadOrganizations } from '../application/read-organizations.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { organizationOf, positionalId } from './ids.js';

export const addMember: CommandHandler = async ({ open: { database }, clock }, given) => {
  const useCase = new AddMember(database, clock, new MemberRepository(database));
  const request = { email: requiredOption(given, 'email'), role: requiredOption(given, 'role') };
  const { id } = await useCase.execute(positionalId(given), request);
  return { id };
};

export const listMembers: CommandHandler = async ({ open: { database } }, given) => {
  const { id } = await new ReadOrganizations(new OrganizationRepository(database)).one(organizationOf(given));
  const members = await new MemberRepository(database).list(id);
  return { members: members.map(({ id, email, role }) => ({ id, email, role })) };
};
