import { ValidationFailed } from '../../platform/errors/index.js';
import {
  type CommandArguments,
  type CommandHandler,
  listOption,
  requiredOption,
} from '../../platform/command-line/index.js';
import { CreateOrganization } from '../application/create-organization.js';
import { ReadOrganizations } from '../application/read-organizations.js';
import { UpdateOrganization } from '../application/update-organization.js';
import type { Organization, OrganizationSettings } from '../domain/organization.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { positionalId } from './ids.js';

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
  const { id, name, plan, agentLimit, crawlPages, creditsIncluded, creditsExhausted } = changed;
  return { id, name, plan, features: featuresOf(changed), agentLimit, crawlPages, creditsIncluded, creditsExhausted };
};

export const listOrganizations: CommandHandler = async ({ open: { database } }) => {
  const organizations = await new ReadOrganizations(new OrganizationRepository(database)).all();
  return { organizations: organizations.map(organizationView) };
};

export const showOrganization: CommandHandler = async ({ open: { database } }, given) =>
  organizationView(await new ReadOrganizations(new OrganizationRepository(database)).one(positionalId(given)));

function organizationView(organization: Organization) {
  const { id, name, plan, agentLimit, createdAt } = organization;
  return { id, name, plan, features: featuresOf(organization), agentLimit, createdAt: createdAt.toISOString() };
}

function featuresOf(organization: Organization): string[] {
  return [...organization.effectiveFeatures()];
}

function settingsOf({ options }: CommandArguments): OrganizationSettings {
  return {
    plan: options.plan,
    features: listOption(options.features),
    agentLimit: wholeNumberOrNone('--agent-limit', options['agent-limit']),
    crawlPages: wholeNumber('--crawl-pages', options['crawl-pages']),
    creditsIncluded: wholeNumberOrNone('--credits', options.credits),
    creditsExhausted: options['credits-exhausted'],
  };
}

function wholeNumberOrNone(option: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  if (!/^\d{1,10}$/.test(text)) throw new ValidationFailed(`${option}: must be a whole number, or none`);
  return Number(text);
}

function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new ValidationFailed(`${option}: must be a whole number`);
  return Number(text);
}
