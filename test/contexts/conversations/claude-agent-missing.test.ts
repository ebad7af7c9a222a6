import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const folder = mkdtempSync(join(tmpdir(), 'claude-agent-missing-'));
const service = useService({ environment: { CLAUDE_AGENT_DIR: folder } });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const AGENT = { provider: { type: 'claude-agent-sdk' } };
const REFUSAL = { error: 'unprocessable_entity', message: expect.stringContaining('npm run install:claude-agent') };

describe('without the Claude Agent SDK', () => {
  it.each(['runs', 'runs/stream'])(
    '%s of its agents is refused with instructions for the operator, and nothing is stored',
    async (route) => {
      const talk = await Talk.start(service, AGENT);
      const body = { message: { role: 'user', content: 'Hi' } };
      const { status, body: refusal } = await service.http('POST', `${talk.path}/${route}`, { key: talk.key, body });
      expect([status, refusal]).toEqual([422, expect.objectContaining(REFUSAL)]);
      expect([await talk.messages(), await talk.storedRows(), service.models.requests]).toEqual([[], [], []]);
    },
  );

  it.each([false, true])(
    'a chat completion of its agents is refused in the same way, with stream %s, and no thread is made',
    async (stream) => {
      const { key, agentId } = await Talk.start(service, AGENT);
      const before = await service.database.query('select id from threads');
      const body = { assistant_id: agentId, messages: [{ role: 'user', content: 'Hi' }], stream };
      const answer = await service.http('POST', '/v1/chat/completions', { key, body });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain('npm run install:claude-agent');
      expect(await service.database.query('select id from threads')).toEqual(before);
      expect(service.models.requests).toEqual([]);
    },
  );

  it('agents of other types run, also of the same organization', async () => {
    const talk = await Talk.start(service, AGENT);
    const other = await talk.withAnotherAgent();
    service.models.next(says('Hello'));
    expect((await other.run('Hi')).body.run.status).toBe('completed');
  });

  it('its agents can be created, read and changed', async () => {
    const { key, agentId } = await Talk.start(service, AGENT);
    const path = `/v1/agents/${agentId}`;
    const changed = await service.http('PATCH', path, { key, body: { name: 'Renamed' } });
    expect([changed.status, changed.body['name']]).toEqual([200, 'Renamed']);
    expect((await service.http('GET', path, { key })).body).toMatchObject({ name: 'Renamed', ...AGENT });
  });

  it('the service reports that it is ready', async () => {
    const { status, body } = await service.http('GET', '/health/ready');
    expect([status, body]).toMatchObject([200, { status: 'ok', claudeAgentSdk: 'not_installed' }]);
  });
});
