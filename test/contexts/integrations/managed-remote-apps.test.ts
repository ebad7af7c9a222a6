import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, type TestService } from '../../support/harness.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

let folder: string;
let server: LyingToolServer;
let service: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  server = await LyingToolServer.start('none');
  const crm = {
    ...{ slug: 'crm', name: 'CRM', transport: 'remote', url: server.url },
    ...{ headers: { authorization: 'Bearer ${CRM_TOKEN}' }, envNames: ['CRM_TOKEN'] },
  };
  writeFileSync(join(folder, 'catalogue.json'), JSON.stringify({ apps: [crm] }));
  const environment = { MCP_CATALOGUE: join(folder, 'catalogue.json'), EGRESS_ALLOW: new URL(server.url).host };
  service = await startService({ environment });
});

afterAll(async () => {
  await service.close();
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('an integration of a remote app of the catalogue', () => {
  it('sends the customer’s value in the catalogue’s header to the catalogue’s address', async () => {
    const talk = await Talk.start(service);
    const path = `/v1/agents/${talk.agentId}/tool-integrations`;
    const body = { type: 'managed-mcp', app: 'crm', secrets: { envMap: { CRM_TOKEN: 'canary-of-crm' } } };
    const created = await service.http('POST', path, { key: talk.key, body });
    expect(created).toMatchObject({ status: 201, body: { status: 'connected', error: null } });
    expect(created.text).not.toContain('canary-of-crm');

    service.models.next(calls('mcp__crm__echo', { text: 'hi' }), says('Done.'));
    await talk.run('Say hi.');
    expect((await talk.messages()).at(-1)?.toolCalls).toMatchObject([{ name: 'mcp__crm__echo', status: 'completed' }]);
    expect(server.requests.map(({ headers }) => headers.authorization)).not.toContain(undefined);
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer canary-of-crm']),
    );
  });
});
