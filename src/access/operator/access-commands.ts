import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import {
  type CommandArguments,
  listOption,
  type OperatorCommand,
  type OperatorKernel,
  readArguments,
  requiredOption,
} from '../../platform/operator/index.js';
import { AddMember } from '../application/add-member.js';
import { CreateOrganization } from '../application/create-organization.js';
import { IssueApiKey } from '../application/issue-api-key.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { RevokeApiKey } from '../application/revoke-api-key.js';
import { UpdateOrganization } from '../application/update-organization.js';
import type { OrganizationSettings } from '../domain/organization.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';

const SETTINGS = ['plan', 'features', 'agent-limit', 'crawl-pages', 'credits', 'credits-exhausted'] as const;
const SETTINGS_USAGE =
  '[--plan P] [--features a,b] [--agent-limit K|none] [--crawl-pages P] [--credits N|none] [--credits-exhausted allow|block]';

/** The operator's commands for organizations, members and keys. They are made without the framework. */
export function accessCommands(kernel: OperatorKernel): OperatorCommand[] {
  const { open, clock, events } = kernel;
  const { database } = open;
  const organizations = new OrganizationRepository(database);
  const members = new MemberRepository(database);
  const keys = new ApiKeyRepository(database);
  return [
    createOrganization(new CreateOrganization(database, clock, organizations, members)),
    setOrganization(new UpdateOrganization(database, clock, events, organizations)),
    addMember(new AddMember(database, clock, members)),
    createKey(new IssueApiKey(database, clock, members, keys, new ResourceLookups())),
    revokeKey(new RevokeApiKey(database, clock, events, keys)),
  ];
}

function createOrganization(useCase: CreateOrganization): OperatorCommand {
  return {
    name: 'org create',
    usage: `org create --name N ${SETTINGS_USAGE} [--owner-email E]`,
    run: async (args) => {
      const given = readArguments(args, { options: ['name', 'owner-email', ...SETTINGS] });
      const name = requiredOption(given, 'name');
      const ownerEmail = given.options['owner-email'];
      const { organization, owner } = await useCase.execute({ name, ownerEmail, ...settingsOf(given) });
      return { id: organization.id, name: organization.name, ownerId: owner.id };
    },
  };
}

function setOrganization(useCase: UpdateOrganization): OperatorCommand {
  return {
    name: 'org set',
    usage: `org set <id> ${SETTINGS_USAGE}`,
    run: async (args) => {
      const given = readArguments(args, { options: SETTINGS, positionals: ['id'] });
      const changed = await useCase.execute(positionalId(given), settingsOf(given));
      const { id, name, plan, features, agentLimit, crawlPages, creditsIncluded, creditsExhausted } = changed;
      return { id, name, plan, features, agentLimit, crawlPages, creditsIncluded, creditsExhausted };
    },
  };
}

function addMember(useCase: AddMember): OperatorCommand {
  return {
    name: 'member add',
    usage: 'member add <orgId> --email E --role owner|admin|member',
    run: async (args) => {
      const given = readArguments(args, { options: ['email', 'role'], positionals: ['orgId'] });
      const request = { email: requiredOption(given, 'email'), role: requiredOption(given, 'role') };
      const { id } = await useCase.execute(positionalId(given), request);
      return { id };
    },
  };
}

function createKey(useCase: IssueApiKey): OperatorCommand {
  return {
    name: 'key create',
    usage: 'key create --org <id> --capabilities a,b [--agents x,y] [--member <id>] [--name N]',
    run: async (args) => {
      const given = readArguments(args, { options: ['org', 'capabilities', 'agents', 'member', 'name'] });
      const { agents, member, name = 'Operator key' } = given.options;
      const capabilities = listOption(requiredOption(given, 'capabilities')) ?? [];
      const memberId = member === undefined ? undefined : idOf('member', member);
      const organizationId = idOf('org', requiredOption(given, 'org'));
      const request = { name, capabilities, agentIds: listOption(agents) };
      const { key, record } = await useCase.byOperator(organizationId, memberId, request);
      return { id: record.id, key };
    },
  };
}

function revokeKey(useCase: RevokeApiKey): OperatorCommand {
  return {
    name: 'key revoke',
    usage: 'key revoke <id>',
    run: async (args) => {
      const id = positionalId(readArguments(args, { options: [], positionals: ['id'] }));
      await useCase.execute(undefined, id);
      return { id, revoked: true };
    },
  };
}

function settingsOf({ options }: CommandArguments<(typeof SETTINGS)[number]>): OrganizationSettings {
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

function positionalId({ positionals }: CommandArguments<string>): string {
  return idOf('id', positionals[0] ?? '');
}

function idOf(field: string, text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new ValidationFailed(`${field}: '${text}' is not an id (a UUID)`);
}
