import { ValidationFailed } from '../../platform/errors/index.js';
import {
  type CommandArguments,
  type CommandHandler,
  idArgument,
  listOption,
  requiredOption,
} from '../../platform/command-line/index.js';
import { AddMember } from '../application/add-member.js';
import { CreateOrganization } from '../application/create-organization.js';
import { IssueApiKey } from '../application/issue-api-key.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { RevokeApiKey } from '../application/revoke-api-key.js';
import { UpdateOrganization } from '../application/update-organization.js';
import type { Organization, OrganizationSettings } from '../domain/organization.js';
import { apiKeyView } from '../http/api-key-view.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

export const createOrganization: CommandHandler = async ({ open: { database }, clock }, given) => {
  const useCase = new CreateOrganization(
    database,
    clock,
    new OrganizationRepository(database),
    new MemberRepository(database),
  );
  const name = requiredOption(given, 'name');
  const ownerEmail = given.options['owner-email'];
  const { organization, owner } = await useCase.execute({ name, ownerEmail, ...settingsOf(given) });
  return { id: organization.id, name: organization.name, ownerId: owner.id };
};

export const setOrganization: CommandHandler = async ({ open: { database }, clock, events }, given) => {
  const useCase = new UpdateOrganization(database, clock, events, new OrganizationRepository(database));
  const changed = await useCase.execute(positionalId(given), settingsOf(given));
  const { id, name, plan, agentLimit, crawlPages, creditsIncluded, creditsExhausted, retainDays } = changed;
  const limits = { agentLimit, crawlPages, creditsIncluded, creditsExhausted, retainDays };
  return { id, name, plan, features: featuresOf(changed), ...limits };
};

export const listOrganizations: CommandHandler = async ({ open: { database } }) => {
  const organizations = await new OrganizationRepository(database).list();
  return { organizations: organizations.map(organizationView) };
};

export const showOrganization: CommandHandler = async ({ open: { database } }, given) =>
  organizationView(await new OrganizationRepository(database).get(positionalId(given)));

export const addMember: CommandHandler = async ({ open: { database }, clock }, given) => {
  const useCase = new AddMember(database, clock, new MemberRepository(database));
  const request = { email: requiredOption(given, 'email'), role: requiredOption(given, 'role') };
  const { id } = await useCase.execute(positionalId(given), request);
  return { id };
};

export const listMembers: CommandHandler = async ({ open: { database } }, given) => {
  const { id } = await new OrganizationRepository(database).get(organizationOf(given));
  const members = await new MemberRepository(database).list(id);
  return { members: members.map(({ id, email, role }) => ({ id, email, role })) };
};

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
  const { id } = await new OrganizationRepository(database).get(organizationOf(given));
  const keys = await new ApiKeyRepository(database).list(id);
  return { apiKeys: keys.map(apiKeyView) };
};

export const revokeKey: CommandHandler = async ({ open: { database }, clock, events }, given) => {
  const id = positionalId(given);
  await new RevokeApiKey(database, clock, events, new ApiKeyRepository(database)).execute(undefined, id);
  return { id, revoked: true };
};

function organizationView(organization: Organization) {
  const { id, name, plan, agentLimit, retainDays, createdAt } = organization;
  const features = featuresOf(organization);
  return { id, name, plan, features, agentLimit, retainDays, createdAt: createdAt.toISOString() };
}

function featuresOf(organization: Organization): string[] {
  return [...organization.effectiveFeatures()];
}

function settingsOf({ options }: CommandArguments): OrganizationSettings {
  return {
    plan: options.plan,
    features: listOption(options.features),
    agentLimit: wholeNumberOr('none', '--agent-limit', options['agent-limit']),
    crawlPages: wholeNumber('--crawl-pages', options['crawl-pages']),
    creditsIncluded: wholeNumberOr('none', '--credits', options.credits),
    creditsExhausted: options['credits-exhausted'],
    retainDays: wholeNumberOr('off', '--retain-days', options['retain-days']),
  };
}

/** @param word stands for null */
function wholeNumberOr(word: string, option: string, text: string | undefined): number | null | undefined {
  return text === word ? null : wholeNumber(option, text, `, or ${word}`);
}

function wholeNumber(option: string, text: string | undefined, otherwise = ''): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new ValidationFailed(`${option}: must be a whole number${otherwise}`);
  return Number(text);
}

function positionalId({ positionals }: CommandArguments): string {
  return idArgument('id', positionals[0]);
}

/** @throws UsageError, ValidationFailed */
function organizationOf(given: CommandArguments): string {
  return idArgument('org', requiredOption(given, 'org'));
}
