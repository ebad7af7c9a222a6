import { beforeEach, describe, expect, it } from '@jest/globals';
import { EventBus } from '../../../src/platform/events/index.js';
import { IntegrationChanged } from '../../../src/integrations/domain/integrations.events.js';
import { ManualClock } from '../../support/manual-clock.js';
import { LOCAL_APP, OAUTH_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { useService } from '../../support/harness.js';
import { type Body, customMcp, Integrations, type IntegrationView, SECRET, workflow } from './support.js';

const clock = new ManualClock();
const service = useService({ clock, environment: useAppCatalogue() });
let integrations: Integrations;
let made: IntegrationView;

beforeEach(async () => {
  integrations = await Integrations.start(service);
  made = await integrations.created(customMcp());
  await clock.advance(1_000);
});

async function revision(id: string): Promise<number | undefined> {
  const [row] = await service.database.query<{ revision: number }>(
    'select revision from tool_integrations where id = $1',
    [id],
  );
  return row?.revision;
}

const kept = { 'X-Key': { type: 'vault' }, 'X-Team': { type: 'plain_text', value: 'support' } };

describe('a change of an integration', () => {
  it('replaces all settings by the body', async () => {
    const settings = { url: 'http://127.0.0.1:9/other', transportType: 'sse', auth: { type: 'none' } };
    const body = customMcp({ ...settings, httpHeaders: undefined, excludedTools: undefined });
    const changed = await integrations.put(made.id, body);
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...made, ...settings, httpHeaders: {}, excludedTools: [], updatedAt: expect.any(String) },
    ]);
    expect(changed.body.updatedAt > made.updatedAt).toBe(true);
    expect((await integrations.read(made.id)).body).toEqual(changed.body);
    expect(await revision(made.id)).toBe(2);
    expect((await integrations.rows())['secrets']).toBe(0);
  });

  it.each<[string, Body]>([
    ['the same body', customMcp()],
    ['a header that is kept', customMcp({ httpHeaders: kept })],
    ['the same excluded tools, named twice', customMcp({ excludedTools: ['delete_ticket', 'delete_ticket'] })],
  ])('with the same settings stores nothing: %s', async (_what, body) => {
    const changed = await integrations.put(made.id, body);
    expect([changed.status, changed.body]).toEqual([200, made]);
    expect(await revision(made.id)).toBe(1);
  });

  it.each<[string, Body]>([
    ['a secret', { httpHeaders: { ...kept, 'X-Key': { type: 'secret', value: 'another' } } }],
    ['a plain header', { httpHeaders: { ...kept, 'X-Team': { type: 'plain_text', value: 'sales' } } }],
    ['a further secret', { httpHeaders: { ...kept, 'X-More': { type: 'secret', value: 'more' } } }],
    ['a secret that is plain now', { httpHeaders: { ...kept, 'X-Key': { type: 'plain_text', value: 'shown' } } }],
    ['excluded tools', { excludedTools: [] }],
    ['auth', { auth: { type: 'oauth' } }],
  ])('raises its revision: %s', async (_what, changes) => {
    const changed = await integrations.put(made.id, customMcp(changes));
    expect(changed.status).toBe(200);
    expect(changed.body.updatedAt > made.updatedAt).toBe(true);
    expect(await revision(made.id)).toBe(2);
  });

  it('of a workflow', async () => {
    const { id } = await integrations.created(workflow());
    const changed = await integrations.put(id, workflow({ authType: null, excludedTools: ['x'] }));
    expect(changed.body).toMatchObject({ authType: null, excludedTools: ['x'] });
  });

  it.each<[string, Body, string]>([
    ['type', workflow(), "body/type must be 'custom-mcp'"],
    [
      'type and the slug of an app that is not there',
      { type: 'managed-mcp', app: 'no-such-app' },
      "body/type must be 'custom-mcp'",
    ],
    ['label', customMcp({ app: 'tickets' }), "body/app must be 'Tickets'"],
  ])('is refused with another %s', async (_what, body, message) => {
    const refused = await integrations.put(made.id, body);
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        statusCode: 400,
        code: 'integration_identity_mismatch',
        error: 'bad_request',
        message: expect.stringContaining(message),
      },
    ]);
    expect((await integrations.read(made.id)).body).toEqual(made);
  });

  it('is refused with another slug', async () => {
    const { id } = await integrations.created(workflow());
    expect((await integrations.put(id, workflow({ nameSlug: 'other' }))).body).toMatchObject({
      code: 'integration_identity_mismatch',
    });
    const [local, oauth] = [LOCAL_APP.slug, OAUTH_APP.slug];
    const managed = await integrations.created({ type: 'managed-mcp', app: local });
    for (const app of [oauth, 'no-such-app']) {
      expect((await integrations.put(managed.id, { type: 'managed-mcp', app })).body).toMatchObject({
        code: 'integration_identity_mismatch',
      });
    }
  });

  it('is refused with variables that the app does not declare', async () => {
    const { id } = await integrations.created({ type: 'managed-mcp', app: LOCAL_APP.slug });
    const refused = await integrations.put(id, {
      type: 'managed-mcp',
      app: LOCAL_APP.slug,
      secrets: { envMap: { NO_SUCH_NAME: SECRET } },
    });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'FST_ERR_VALIDATION', message: expect.stringContaining('body/secrets/envMap/NO_SUCH_NAME') },
    ]);
    expect(refused.text).not.toContain(SECRET);
  });

  it.each<[string, string, Body]>([
    ['an unknown field', 'id', { id: 'x' }],
    ['a wrong header', 'httpHeaders/Host', { httpHeaders: { Host: { type: 'plain_text', value: 'x' } } }],
    [
      'a header that is kept with its value',
      'httpHeaders/X-Key/value',
      { httpHeaders: { 'X-Key': { type: 'vault', value: SECRET } } },
    ],
    ['a static header that is not there', 'auth/headerKey', { httpHeaders: {} }],
  ])('is refused with %s', async (_what, field, changes) => {
    const refused = await integrations.put(made.id, customMcp(changes));
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(`body/${field}`) },
    ]);
    expect(refused.text).not.toContain('canary');
    expect((await integrations.read(made.id)).body).toEqual(made);
  });
});

describe('an event of a changed integration', () => {
  it('is published for every effective change, with the agents that use it', async () => {
    const published: IntegrationChanged[] = [];
    const stop = service.app.get(EventBus).subscribe(IntegrationChanged, (event) => void published.push(event));
    const { agentId, otherAgentId } = integrations;
    const { id } = await integrations.created(workflow());
    await integrations.created(workflow(), { agentId: otherAgentId });
    await integrations.create(workflow());
    await integrations.put(id, workflow());
    await integrations.put(id, workflow({ authType: 'none' }));
    await integrations.put(id, workflow({ nameSlug: 'other' }));
    await integrations.remove(id, { agentId });
    await integrations.remove(id, { agentId });
    stop();
    const both = [agentId, otherAgentId].sort();
    expect(published.map(({ integrationId, agentIds }) => [integrationId, [...agentIds].sort()])).toEqual([
      [id, [agentId]],
      [id, both],
      [id, both],
      [id, both],
    ]);
    expect(new Set(published.map(({ organizationId }) => organizationId))).toEqual(
      new Set([integrations.organization.id]),
    );
  });
});
