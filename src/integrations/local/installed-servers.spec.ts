import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { callTool, signal, type TestLocalServers, useLocalServers } from '../../../test/support/local-servers.js';
import { readSettings } from '../../platform/config/index.js';
import { newId } from '../../platform/ids/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { catalogueEndpoint } from '../catalogue/catalogue-endpoint.js';
import type { Integration } from '../domain/integration.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';

const settings = readSettings({}, { role: 'all', demo: false });
const catalogue = new AppCatalogue(settings);

function endpointOf(app: string, id: string): ProcessEndpoint {
  const integration: Integration = {
    ...{ id, organizationId: newId(), settings: { type: 'managed-mcp', app, envNames: [] } },
    ...{ excludedTools: [], revision: 1, createdAt: new Date(0), updatedAt: new Date(0) },
  };
  return catalogueEndpoint(catalogue.find(app)!, integration, {}, settings) as ProcessEndpoint;
}

const processes = useLocalServers();
let local: TestLocalServers;
beforeEach(() => {
  local = processes.begin();
});

describe('the app everything', () => {
  it('runs without the environment of the service, and fetches no address that a model names', async () => {
    process.env['SECRETS_KEY'] = 'canary';
    const connection = await local.connect(endpointOf('everything', newId()));
    expect((await connection.listTools(signal)).length).toBeGreaterThan(5);
    expect(await callTool(connection, 'echo', { message: 'hello' })).toContain('hello');
    const environment = await callTool(connection, 'get-env');
    expect(environment).toContain('HOME');
    expect(environment).not.toContain('canary');
    for (const data of ['http://127.0.0.1:1/', 'https://example.com/']) {
      const answer = await connection.callTool(
        { name: 'gzip-file-as-resource', input: { name: 'x', data }, meta: {} },
        signal,
      );
      expect(answer).toMatchObject({
        isError: true,
        output: expect.stringContaining('not in the allowed domains list'),
      });
    }
  });
});

describe('the app memory', () => {
  const entity = { name: 'Ada', entityType: 'person', observations: ['likes tea'] };

  it('keeps the data of each integration over restarts, until the integration is removed', async () => {
    const [one, other] = [newId(), newId()];
    const first = await local.connect(endpointOf('memory', one));
    await callTool(first, 'create_entities', { entities: [entity] });
    await first.close();
    const [again, elsewhere] = [
      await local.connect(endpointOf('memory', one)),
      await local.connect(endpointOf('memory', other)),
    ];
    expect(await callTool(again, 'read_graph')).toContain('likes tea');
    expect(await callTool(elsewhere, 'read_graph')).not.toContain('likes tea');
    expect(readFileSync(join(local.folders, one, 'state'), 'utf8')).toContain('likes tea');
    await local.servers.forget(one);
    expect(existsSync(join(local.folders, one))).toBe(false);
    expect(await callTool(await local.connect(endpointOf('memory', one)), 'read_graph')).not.toContain('likes tea');
  });

  it('reads and writes only in its own folder', async () => {
    const path = join(local.dataDir, 'secrets.key');
    writeFileSync(path, JSON.stringify({ type: 'entity', ...entity }));
    // What a compromised server could try.
    const outside = { ...endpointOf('memory', newId()), env: { MEMORY_FILE_PATH: path }, stateFile: undefined };
    const connection = await local.connect(outside);
    const read = await connection.callTool({ name: 'read_graph', input: {}, meta: {} }, signal);
    expect(read).toMatchObject({ isError: true, output: expect.not.stringContaining('likes tea') });
  });
});
