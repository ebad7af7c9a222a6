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
  /** The label that identifies the integration. */
  app: z.string(),
  url: z.string(),
  transportType,
  auth: integrationAuth,
  /** Names as the caller wrote them; no two differ in case alone. */
  headers: z.record(z.string(), storedHeader).default({}),
});
export type CustomMcpSettings = Stored<typeof customMcpSettings>;

/** The settings that a customer sends, without `excludedTools`. Secrets are in the vault. */
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
  /** Every change, of secrets too, raises it. Connections of older revisions are not used again. */
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `app` or `nameSlug`, which together with the type never changes. */
export function identityOf(settings: IntegrationSettings): string {
  return settings.type === 'workflow-platform' ? settings.nameSlug : settings.app;
}

/** Whether both have the same server, so that its stored tool list, with their read-only hints, still applies. */
export function haveSameServer(one: IntegrationSettings, other: IntegrationSettings): boolean {
  return one.type !== 'custom-mcp' || other.type !== 'custom-mcp' || one.url === other.url;
}

/** Shared by the agents of its organization; one of `managed-mcp` belongs to a single agent. */
export function isOrganizationWide({ type }: IntegrationSettings): boolean {
  return type !== 'managed-mcp';
}

export function headerField(name: string): string {
  return `header.${name.toLowerCase()}`;
}

export function environmentField(name: string): string {
  return `env.${name}`;
}

/** The vault's fields of all secrets of the settings. */
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

/** Whether both describe the same server and connection. Header names are compared without case. */
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

/** Identifies where calls of the integration go. It changes with the server's address but not with its secrets. */
export function targetOf({ id, settings }: Integration): string {
  return settings.type === 'custom-mcp' ? `${id} ${settings.url}` : id;
}
