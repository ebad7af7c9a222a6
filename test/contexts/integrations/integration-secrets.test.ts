import { beforeEach, describe, expect, it } from '@jest/globals';
import { LOCAL_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { useService } from '../../support/harness.js';
import { Vault } from '../../../src/platform/vault/index.js';
import { type Body, customMcp, Integrations, type IntegrationView, SECRET, SERVER } from './support.js';

const service = useService({ environment: useAppCatalogue() });
let integrations: Integrations;
let made: IntegrationView;

beforeEach(async () => {
  integrations = await Integrations.start(service);
  made = await integrations.created(customMcp());
});

/** The secrets of an integration in the vault, by field. */
async function stored(id = made.id): Promise<Readonly<Record<string, string>>> {
  const rows = await service.database.query<{ field: string }>(
    'select field from secrets where record_id = $1 order by field',
    [id],
  );
  const refs = rows.map(({ field }) => ({ organizationId: integrations.organization.id, recordId: id, field }));
  const values = await service.app.get(Vault, { strict: false }).readMany(refs);
  return Object.fromEntries(rows.map(({ field }, index) => [field, values[index] ?? '']));
}

const header = (value: Body, changes: Body = {}): Body => customMcp({ httpHeaders: { 'X-Key': value }, ...changes });

describe('a secret header', () => {
  it('is in the vault, but neither in the record nor in any response', async () => {
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
    const [row] = await service.database.query('select * from tool_integrations where id = $1', [made.id]);
    const answers = [
      await integrations.read(made.id),
      await integrations.list(),
      await integrations.test(made.id),
      await integrations.create(customMcp()),
      await integrations.create(customMcp(), { agentId: integrations.otherAgentId }),
      await integrations.put(made.id, customMcp({ excludedTools: [] })),
      await integrations.put(made.id, customMcp({ app: 'Other' })),
      await integrations.put(made.id, header({ type: 'secret', value: SECRET, nonsense: true })),
      await integrations.remove(made.id),
    ];
    expect(JSON.stringify([row, ...answers])).not.toContain(SECRET);
  });

  it('is replaced by a new value', async () => {
    const rotated = await integrations.put(made.id, header({ type: 'secret', value: 'canary-new' }));
    expect(rotated.body.httpHeaders).toEqual({ 'X-Key': { type: 'vault', keyName: 'header.x-key' } });
    expect(rotated.text).not.toContain('canary-new');
    expect(await stored()).toEqual({ 'header.x-key': 'canary-new' });
  });

  it.each<[string, Body]>([
    ['type alone', { type: 'vault' }],
    ['as it is read', { type: 'vault', keyName: 'header.x-key' }],
  ])('keeps its value: %s', async (_what, value) => {
    const changed = await integrations.put(
      made.id,
      header(value, { url: 'http://127.0.0.1:9/other', excludedTools: [] }),
    );
    expect(changed.status).toBe(200);
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
  });

  it('keeps its value if its name changes in case only', async () => {
    const changed = await integrations.put(
      made.id,
      customMcp({ httpHeaders: { 'x-KEY': { type: 'vault', keyName: 'header.x-key' } } }),
    );
    expect(changed.body).toMatchObject({
      auth: { type: 'static', headerKey: 'x-KEY' },
      httpHeaders: { 'x-KEY': { type: 'vault' } },
    });
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
  });

  it.each<[string, Body]>([
    ['a header that was not there', { 'X-Key': { type: 'vault' }, 'X-New': { type: 'vault' } }],
    ['a header that was plain', { 'X-Key': { type: 'vault' }, 'X-Team': { type: 'vault' } }],
    ['a value that is stored elsewhere', { 'X-Key': { type: 'vault', keyName: 'header.other' } }],
  ])('cannot be kept if none is stored: %s', async (_what, httpHeaders) => {
    const refused = await integrations.put(made.id, customMcp({ httpHeaders }));
    const [name = ''] = Object.keys(httpHeaders).slice(-1);
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(`body/httpHeaders/${name}`) },
    ]);
    expect((await integrations.read(made.id)).body).toEqual(made);
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
  });

  it('is removed with the header', async () => {
    await integrations.put(made.id, header({ type: 'plain_text', value: 'shown' }));
    expect(await stored()).toEqual({});
  });

  it('that cannot be decrypted counts as missing, and can be replaced', async () => {
    await service.database.query('update secrets set ciphertext = $1 where record_id = $2', [
      Buffer.from('nonsense'),
      made.id,
    ]);
    const refused = await integrations.put(made.id, header({ type: 'vault' }));
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { message: expect.stringContaining('body/httpHeaders/X-Key') },
    ]);
    expect((await integrations.create(customMcp(), { agentId: integrations.otherAgentId })).status).toBe(409);
    const error = 'The secrets of the integration cannot be decrypted. Store them again by changing the integration.';
    const tested = await integrations.test(made.id);
    expect([tested.status, tested.body]).toMatchObject([200, { ok: false, tools: 0, error }]);
    expect((await integrations.read(made.id)).body).toMatchObject({ status: 'error', error });
    expect((await integrations.put(made.id, customMcp())).status).toBe(200);
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
  });
});

describe('another origin', () => {
  it.each(['https://127.0.0.1:9/mcp', 'http://127.0.0.1:10/mcp', 'http://127.0.0.2:9/mcp'])(
    'does not receive the stored secrets: %s',
    async (url) => {
      const refused = await integrations.put(made.id, header({ type: 'vault' }, { url }));
      const message = expect.stringMatching(/body\/httpHeaders\/X-Key .*body\/url .*origin/);
      expect([refused.status, refused.body]).toMatchObject([400, { code: 'FST_ERR_VALIDATION', message }]);
      expect((await integrations.read(made.id)).body).toEqual(made);
      const changed = await integrations.put(made.id, header({ type: 'secret', value: 'canary-new' }, { url }));
      expect(changed.status).toBe(200);
      expect(await stored()).toEqual({ 'header.x-key': 'canary-new' });
    },
  );

  it('removes the tokens of a grant, and so does another auth', async () => {
    const oauth = { auth: { type: 'oauth' }, httpHeaders: { 'X-Key': { type: 'vault' } } };
    const grant = async (): Promise<void> => {
      const ref = { organizationId: integrations.organization.id, recordId: made.id, field: 'grant' };
      await service.database.transaction((transaction) =>
        service.app.get(Vault, { strict: false }).put(transaction, ref, 'tokens'),
      );
    };
    await integrations.put(made.id, customMcp(oauth));
    await grant();
    await integrations.put(made.id, customMcp({ ...oauth, excludedTools: [] }));
    expect(await stored()).toEqual({ grant: 'tokens', 'header.x-key': SECRET });
    await integrations.put(made.id, customMcp({ ...oauth, auth: { type: 'none' } }));
    expect(await stored()).toEqual({ 'header.x-key': SECRET });
    await integrations.put(made.id, customMcp(oauth));
    await grant();
    await integrations.put(made.id, customMcp({ ...oauth, url: `https${SERVER.slice(4)}`, httpHeaders: {} }));
    expect(await stored()).toEqual({});
  });
});

describe('the environment of a managed app', () => {
  it('is in the vault, stays if it is omitted, and is replaced as a whole', async () => {
    const { slug, envName: name } = LOCAL_APP;
    const body = (envMap?: Body): Body => ({
      type: 'managed-mcp',
      app: slug,
      ...(envMap ? { secrets: { envMap } } : {}),
    });
    const managed = await integrations.created(body({ [name]: SECRET }));
    const secrets = { envMap: { [name]: { type: 'vault', keyName: `env.${name}` } } };
    expect(managed).toMatchObject({ secrets });
    expect(await stored(managed.id)).toEqual({ [`env.${name}`]: SECRET });
    const kept = await integrations.put(managed.id, { ...body(), excludedTools: ['x'] });
    expect(kept.body).toMatchObject({ secrets, excludedTools: ['x'] });
    expect(await stored(managed.id)).toEqual({ [`env.${name}`]: SECRET });
    const rotated = await integrations.put(managed.id, body({ [name]: 'canary-new' }));
    expect(rotated.body).toMatchObject({ secrets });
    expect(await stored(managed.id)).toEqual({ [`env.${name}`]: 'canary-new' });
    const emptied = await integrations.put(managed.id, body({}));
    expect(emptied.body).toMatchObject({ secrets: { envMap: {} } });
    expect(await stored(managed.id)).toEqual({});
    expect(kept.text + rotated.text + emptied.text).not.toMatch(/canary/);
  });
});
