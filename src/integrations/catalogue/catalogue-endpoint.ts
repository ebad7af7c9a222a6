import type { Settings } from '../../platform/config/index.js';
import type { Integration } from '../domain/integration.js';
import type { HttpEndpoint, McpEndpoint, ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { type CatalogueEntry, fillTemplate, type LocalApp, type RemoteApp } from './catalogue-entry.js';

/** Values of environment names. */
type AppSecrets = Readonly<Record<string, string>>;

/** What `fetch` accepts as the value of a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The endpoint of a catalogue app for one integration, without OAuth tokens.
 * @param secrets of the integration; names that the app does not declare are left out
 * @throws McpFailure `process` or `refused` if a value that the app needs is missing or unusable
 */
export function catalogueEndpoint(
  entry: CatalogueEntry,
  integration: Integration,
  secrets: AppSecrets,
  { redisUrl }: Pick<Settings, 'redisUrl'>,
): McpEndpoint {
  if (entry.transport === 'remote') return httpEndpoint(entry, secrets);
  // Each process of the service starts a server of its own, and these would not share or would overwrite the file.
  if (entry.stateFile !== undefined && redisUrl !== undefined) {
    throw new McpFailure('process', `${entry.name} stores data in a file, and this service runs as several processes.`);
  }
  return processEndpoint(entry, integration, secrets);
}

function httpEndpoint(entry: RemoteApp, secrets: AppSecrets): HttpEndpoint {
  const values = valuesOf(entry, secrets, 'refused', HEADER_VALUE);
  const headers = Object.entries(entry.headers).map(
    ([name, template]) => [name, fillTemplate(template, (used) => values[used] ?? '')] as const,
  );
  return {
    kind: 'http',
    transport: entry.transportType,
    url: entry.url,
    headers: Object.fromEntries(headers),
    // As strict as for a customer's own address: sign-ins to it use the same client, and `EGRESS_ALLOW` names private ones.
    chosenBy: 'customer',
    secrets: Object.values(values),
  };
}

function processEndpoint(entry: LocalApp, { id, organizationId }: Integration, secrets: AppSecrets): ProcessEndpoint {
  const { command, args, stateFile } = entry;
  // No variable can hold a NUL character.
  const values = valuesOf(entry, secrets, 'process', /^[^\0]*$/);
  const env = { ...entry.env, ...values };
  return {
    ...{ kind: 'process', organizationId, integrationId: id, command, args, env, stateFile },
    secrets: Object.values(values),
  };
}

/** The values of the names that the app declares. */
function valuesOf(
  { envNames }: CatalogueEntry,
  secrets: AppSecrets,
  reason: 'process' | 'refused',
  usable: RegExp,
): AppSecrets {
  const values = Object.entries(secrets).filter(([name]) => envNames.includes(name));
  const missing = envNames.filter((name) => !Object.hasOwn(secrets, name));
  if (missing.length > 0)
    throw new McpFailure(reason, `The app needs values for ${missing.join(', ')} (secrets.envMap)`);
  const unusable = values.filter(([, value]) => !usable.test(value)).map(([name]) => name);
  if (unusable.length > 0)
    throw new McpFailure(reason, `The values for ${unusable.join(', ')} have characters that cannot be passed on`);
  return Object.fromEntries(values);
}
