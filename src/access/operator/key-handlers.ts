import { type CommandHandler, idArgument, listOption, requiredOption } from '../../platform/command-line/index.js';
import { IssueApiKey } from '../application/issue-api-key.js';
import { ReadOrganizations } from '../application/read-organizations.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { RevokeApiKey } from '../application/revoke-api-key.js';
import { apiKeyView } from '../http/api-key-view.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { organizationOf, positionalId } from './ids.js';

export const createKey: CommandHandler = async ({ open: { database }, clock }, given) => {
  const keys = new ApiKeyRepository(database);
  const useCase = new IssueApiKey(database, clock, new MemberRepository(database), keys, new ResourceLookups());
  const { agents, member, name = 'Operator key' } = given.options;
  const capabilities = listOption(requiredOption(given, 'capabilities')) ?? [];
  const memberId = member === undefined ? undefined : idArgument('member', member);
  const request = { name, capabilities, agentIds: listOption(agents) };
  const { key, record } = await useCase.byOperator(organizationOf(given), memberId, request);
  return { id: record.id, key };
};

export const listKeys: CommandHandler = async ({ open: { database } }, given) => {
  const { id } = await new ReadOrganizations(new OrganizationRepository(database)).one(organizationOf(given));
  const keys = await new ApiKeyRepository(database).list(id);
  return { apiKeys: keys.map(apiKeyView) };
};

export const revokeKey: CommandHandler = async ({ open: { database }, clock, events }, given) => {
  const id = positionalId(given);
  await new RevokeApiKey(database, clock, events, new ApiKeyRepository(database)).execute(undefined, id);
  return { id, revoked: true };
};
