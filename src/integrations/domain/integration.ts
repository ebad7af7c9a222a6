import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';

/** How a tool server is reached. */
const transportType = z.enum(['sse', 'streamableHttp']);
export type TransportType = Stored<typeof transportType>;

const integrationAuth = z.discriminatedUnion('type', [
  storedObject({ type: z.literal('oauth') }),
  storedObject({ type: z.literal('none') }),
  /** `headerKey` names the entry of the headers that authenticates. */
  storedObject({ type: z.literal('static'), headerKey: z.string() }),
]);
export type IntegrationAuth = Stored<typeof integrationAuth>;

/** A header as it is stored: the value of a secret one is in the vault. */
const storedHeader = z.discriminatedUnion('type', [
  storedObject({ type: z.literal('plain_text'), value: z.string() }),
  storedObject({ type: z.literal('secret') }),
]);
export type StoredHeader = Stored<typeof storedHeader>;

const workflowAuthType = z.enum(['keys', 'oauth', 'none']);
export type WorkflowAuthType = Stored<typeof workflowAuthType>;

const managedMcpSettings = storedObject({
  type: z.literal('managed-mcp'),
  /** Slug of an entry of the catalogue. */
  app: z.string(),
  /** Names of the environment variables whose values are in the vault, sorted. */
  envNames: z.array(z.string()).default([]),
});
export type ManagedMcpSettings = Stored<typeof managedMcpSettings>;

const workflowPlatformSettings = storedObject({
  type: z.literal('workflow-platform'),
  nameSlug: z.string(),
  authType: workflowAuthType.nullable().default(null),
});
export type WorkflowPlatformSettings = Stored<typeof workflowPlatformSettings>;

const customMcpSettings = storedObject({
  type: z.literal('custom-mcp'),
  /** The label that the integration is known by. */
  app: z.string(),
  url: z.string(),
  transportType,
  auth: integrationAuth,
  /** Names as the caller wrote them; no two differ in case alone. */
  headers: z.record(z.string(), storedHeader).default({}),
});
export type CustomMcpSettings = Stored<typeof customMcpSettings>;

/** What a customer decides about an integration besides `excludedTools`; secrets are in the vault. */
export const integrationSettings = z.discriminatedUnion('type', [
  managedMcpSettings,
  workflowPlatformSettings,
  customMcpSettings,
]);
export type IntegrationSettings = Stored<typeof integrationSettings>;
export type IntegrationType = IntegrationSettings['type'];

/** A tool server that agents of one organization may use. */
export interface Integration {
  readonly id: string;
  readonly organizationId: string;
  readonly settings: IntegrationSettings;
  /** The server's own names of tools that are not offered, sorted. */
  readonly excludedTools: readonly string[];
  /** Raised by every change, of secrets too: connections made under an older one are not used again. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `app` or `nameSlug`: with the type, what an integration is for as long as it lives. */
export function identityOf(settings: IntegrationSettings): string {
  return settings.type === 'workflow-platform' ? settings.nameSlug : settings.app;
}

/** Whether both have the same server: what is known of another one's tools, and whether they only read, says nothing of it. */
export function haveSameServer(one: IntegrationSettings, other: IntegrationSettings): boolean {
  return one.type !== 'custom-mcp' || other.type !== 'custom-mcp' || one.url === other.url;
}

/** Shared by the agents of its organization; one of `managed-mcp` belongs to a single agent. */
export function isOrganizationWide({ type }: IntegrationSettings): boolean {
  return type !== 'managed-mcp';
}

/** The vault's field of a secret header. */
export function headerField(name: string): string {
  return `header.${name.toLowerCase()}`;
}

/** The vault's field of an environment variable. */
export function environmentField(name: string): string {
  return `env.${name}`;
}

/** The vault's fields of everything that the settings keep there. */
export function secretFieldsOf(settings: IntegrationSettings): string[] {
  switch (settings.type) {
    case 'managed-mcp':
      return settings.envNames.map(environmentField);
    case 'custom-mcp':
      return Object.entries(settings.headers).flatMap(([name, { type }]) =>
        type === 'secret' ? [headerField(name)] : [],
      );
    case 'workflow-platform':
      return [];
    default:
      return settings satisfies never;
  }
}

/** Whether both describe the same server, reached in the same way; names of headers do not differ by case. */
export function agree(one: IntegrationSettings, other: IntegrationSettings): boolean {
  return isDeepStrictEqual(withLowerCaseHeaders(one), withLowerCaseHeaders(other));
}

function withLowerCaseHeaders(settings: IntegrationSettings): IntegrationSettings {
  if (settings.type !== 'custom-mcp') return settings;
  const { auth } = settings;
  return {
    ...settings,
    auth: auth.type === 'static' ? { ...auth, headerKey: auth.headerKey.toLowerCase() } : auth,
    headers: Object.fromEntries(Object.entries(settings.headers).map(([name, header]) => [name.toLowerCase(), header])),
  };
}

/** Where calls of the integration go, for as long as nobody leads them elsewhere; a rotated secret changes nothing of it. */
export function targetOf({ id, settings }: Integration): string {
  return settings.type === 'custom-mcp' ? `${id} ${settings.url}` : id;
}
