import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings, type Settings } from '../../platform/config/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Integration } from '../domain/integration.js';
import type { McpEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { AppCatalogue } from './app-catalogue.js';
import { catalogueEndpoint } from './catalogue-endpoint.js';

const APPS = [
  {
    ...{ slug: 'notes', name: 'Notes', transport: 'local', command: 'notes-server', args: ['--stdio'] },
    ...{ env: { MODE: 'service' }, envNames: ['NOTES_KEY', 'NOTES_USER'], stateFile: 'NOTES_FILE' },
  },
  {
    ...{ slug: 'crm', name: 'CRM', transport: 'remote', url: 'https://crm.example/mcp', transportType: 'sse' },
    ...{ headers: { authorization: 'Bearer ${CRM_KEY}', 'x-plain': 'as it is' }, envNames: ['CRM_KEY'] },
  },
];

let folder: string;
let settings: Settings;
let catalogue: AppCatalogue;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'endpoints-'));
  const path = join(folder, 'apps.json');
  writeFileSync(path, JSON.stringify({ apps: APPS }));
  settings = readSettings({ MCP_CATALOGUE: path }, { role: 'all', demo: false });
  catalogue = new AppCatalogue(settings);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const integration: Integration = {
  ...{ id: newId(), organizationId: newId(), settings: { type: 'managed-mcp', app: 'notes', envNames: [] } },
  ...{ excludedTools: [], revision: 1, createdAt: new Date(0), updatedAt: new Date(0) },
};

function endpointOf(slug: string, secrets: Readonly<Record<string, string>>): McpEndpoint {
  return catalogueEndpoint(catalogue.find(slug)!, integration, secrets, settings);
}

describe('the endpoint of an app', () => {
  it('of a local app is its command, with only the values that the app declares', () => {
    expect(endpointOf('notes', { NOTES_KEY: 'key', NOTES_USER: '', OTHER: 'other', MODE: 'other' })).toEqual({
      ...{ kind: 'process', organizationId: integration.organizationId, integrationId: integration.id },
      ...{ command: 'notes-server', args: ['--stdio'], stateFile: 'NOTES_FILE' },
      env: { MODE: 'service', NOTES_KEY: 'key', NOTES_USER: '' },
      secrets: ['key', ''],
    });
  });

  it('of a remote app is its address, with the values inserted into the headers unchanged', () => {
    expect(endpointOf('crm', { CRM_KEY: '$& ${CRM_KEY} $1' })).toEqual({
      ...{ kind: 'http', transport: 'sse', url: 'https://crm.example/mcp', chosenBy: 'customer' },
      headers: { authorization: 'Bearer $& ${CRM_KEY} $1', 'x-plain': 'as it is' },
      secrets: ['$& ${CRM_KEY} $1'],
    });
  });

  it('is refused with the names of the missing or unusable values, without the values', () => {
    const failure = (reason: string, message: string) => expect.objectContaining({ reason, message });
    const thrown = (slug: string, secrets: Readonly<Record<string, string>>): unknown => {
      try {
        return endpointOf(slug, secrets);
      } catch (error) {
        expect(error).toBeInstanceOf(McpFailure);
        return error;
      }
    };
    expect(thrown('notes', {})).toEqual(
      failure('process', 'The app needs values for NOTES_KEY, NOTES_USER (secrets.envMap)'),
    );
    expect(thrown('crm', {})).toEqual(failure('refused', 'The app needs values for CRM_KEY (secrets.envMap)'));
    expect(thrown('notes', { NOTES_KEY: 'a\0b', NOTES_USER: '' })).toEqual(
      failure('process', 'The values for NOTES_KEY have characters that cannot be passed on'),
    );
    for (const value of ['a\r\nx-other: b', 'a\0', '€']) {
      expect(thrown('crm', { CRM_KEY: value })).toEqual(
        failure('refused', 'The values for CRM_KEY have characters that cannot be passed on'),
      );
    }
  });

  it('is refused for an app that stores a file while the service runs as several processes', () => {
    const several = readSettings(
      {
        DATABASE_URL: 'postgresql://host/db',
        REDIS_URL: 'redis://host',
        SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      },
      { role: 'all', demo: false },
    );
    const notes = catalogue.find('notes')!;
    const secrets = { NOTES_KEY: 'k', NOTES_USER: 'u' };
    expect(() => catalogueEndpoint(notes, integration, secrets, several)).toThrow(/several processes/);
  });
});
