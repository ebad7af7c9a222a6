import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';
import type { Integration } from '../domain/integration.js';
import type { HttpEndpoint, McpEndpoint, ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import type { CatalogueApp } from './app-catalogue.js';
import { fillTemplate, type LocalApp, type RemoteApp } from './catalogue-entry.js';
import { ConfiguredAppCatalogue } from './configured-app-catalogue.js';

/** Values of environment names. */
export type AppSecrets = Readonly<Record<string, string>>;

/** What `fetch` takes as the value of a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** How the server of a catalogue's app is reached for one integration. */
@Injectable()
export class CatalogueEndpoints {
  constructor(
    private readonly catalogue: ConfiguredAppCatalogue,
    private readonly settings: Settings,
  ) {}

  /**
   * Without the tokens of an app whose connection people authorize.
   * @param secrets of the integration; those that the app does not declare are left out
   * @throws McpFailure `process` or `refused` when a value that the app needs is missing or unusable
   */
  endpointOf({ slug }: CatalogueApp, integration: Integration, secrets: AppSecrets): McpEndpoint {
    const entry = this.catalogue.find(slug);
    switch (entry?.transport) {
      case 'remote':
        return httpEndpoint(entry, secrets);
      case 'local':
        this.requireOneProcess(entry);
        return processEndpoint(entry, integration, secrets);
      case undefined:
        throw new McpFailure('refused', `The app ${slug} is not in the catalogue any more`);
      default:
        return entry satisfies never;
    }
  }

  /** Each process has servers of its own: what one is told the others would not know, or would overwrite. */
  private requireOneProcess({ name, stateFile }: LocalApp): void {
    if (stateFile === undefined || this.settings.redisUrl === undefined) return;
    throw new McpFailure(
      'process',
      `${name} keeps what it is told in one place, and this service runs as several processes.`,
    );
  }
}

function httpEndpoint(entry: RemoteApp, secrets: AppSecrets): HttpEndpoint {
  const values = valuesOf(entry, secrets, 'refused', HEADER_VALUE);
  const headers = Object.entries(entry.headers).map(([name, template]) => [
    name,
    fillTemplate(template, (used) => values[used] ?? ''),
  ]);
  return {
    kind: 'http',
    transport: entry.transportType,
    url: entry.url,
    headers: Object.fromEntries(headers) as Record<string, string>,
    // As strict as for a customer's own address: sign-ins to it go the same way, and `EGRESS_ALLOW` names private ones.
    chosenBy: 'customer',
    secrets: Object.values(values),
  };
}

function processEndpoint(entry: LocalApp, { id, organizationId }: Integration, secrets: AppSecrets): ProcessEndpoint {
  const { command, args, stateFile } = entry;
  // No variable can hold a NUL character.
  const values = valuesOf(entry, secrets, 'process', /^[^\0]*$/);
  return {
    kind: 'process',
    organizationId,
    integrationId: id,
    command,
    args,
    env: { ...entry.env, ...values },
    stateFile,
    secrets: Object.values(values),
  };
}

/** Those of the names that the app declares, and of no other. */
function valuesOf(
  { envNames }: CatalogueApp,
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
