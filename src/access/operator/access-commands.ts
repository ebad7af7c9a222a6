import type { CommandOption, OperatorCommand } from '../../platform/command-line/index.js';

/** The options of `org create` and `org set`. */
const SETTINGS: readonly CommandOption[] = [
  { name: 'plan', value: 'P', about: 'free, team or enterprise' },
  { name: 'features', value: 'a,b', about: 'replaces the list of features; a leading - switches a feature off' },
  { name: 'agent-limit', value: 'K|none', about: 'the most agents of the organization' },
  { name: 'crawl-pages', value: 'P', about: "the most pages that a crawl of one agent's sites fetches" },
  { name: 'credits', value: 'N|none', about: 'what each calendar month includes' },
  { name: 'retain-days', value: 'N|off', about: 'removes conversations, and exchanges in them, that are older' },
  { name: 'credits-exhausted', value: 'allow|block', about: 'whether runs are allowed once the credits are used up' },
];

const ofOrganization: CommandOption = { name: 'org', value: '<id>', required: true, about: 'the organization' };

/** The operator's commands for organizations, members and keys. */
export const accessCommands: readonly OperatorCommand[] = [
  {
    name: 'org create',
    about: 'Creates an organization and its owner.',
    options: [
      { name: 'name', value: 'N', required: true, about: 'its name' },
      ...SETTINGS,
      { name: 'owner-email', value: 'E', about: "the owner's address" },
    ],
    handler: async () => (await import('./access-handlers.js')).createOrganization,
  },
  {
    name: 'org set',
    about: 'Changes the settings of an organization. Settings that are left out keep their values.',
    positionals: ['id'],
    options: SETTINGS,
    handler: async () => (await import('./access-handlers.js')).setOrganization,
  },
  {
    name: 'org list',
    about: 'Lists all organizations, the oldest first.',
    handler: async () => (await import('./access-handlers.js')).listOrganizations,
  },
  {
    name: 'org show',
    about: 'Shows one organization.',
    positionals: ['id'],
    handler: async () => (await import('./access-handlers.js')).showOrganization,
  },
  {
    name: 'member add',
    about: 'Adds a member to an organization.',
    positionals: ['orgId'],
    options: [
      { name: 'email', value: 'E', required: true, about: "the member's address" },
      { name: 'role', value: 'owner|admin|member', required: true, about: 'owners and admins issue API keys' },
    ],
    handler: async () => (await import('./access-handlers.js')).addMember,
  },
  {
    name: 'member list',
    about: 'Lists the members of an organization, the oldest first.',
    options: [ofOrganization],
    handler: async () => (await import('./access-handlers.js')).listMembers,
  },
  {
    name: 'key create',
    about: 'Issues an API key and shows it. It cannot be shown again.',
    options: [
      ofOrganization,
      { name: 'capabilities', value: 'a,b', required: true, about: 'some of chat, manageAgents and manageApiKeys' },
      { name: 'agents', value: 'x,y', about: 'ids of the only agents that it may use' },
      { name: 'member', value: '<id>', about: 'the member who owns the key; by default the owner of the organization' },
      { name: 'name', value: 'N', about: 'its name in lists' },
    ],
    handler: async () => (await import('./access-handlers.js')).createKey,
  },
  {
    name: 'key list',
    about: 'Lists the API keys of an organization that are not revoked, the oldest first, without their secrets.',
    options: [ofOrganization],
    handler: async () => (await import('./access-handlers.js')).listKeys,
  },
  {
    name: 'key revoke',
    about: 'Revokes an API key. This cannot be undone.',
    positionals: ['id'],
    handler: async () => (await import('./access-handlers.js')).revokeKey,
  },
];
