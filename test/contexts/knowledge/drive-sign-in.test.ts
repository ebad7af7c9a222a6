import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DriveGrants } from '../../../src/knowledge/drive/application/sign-in/drive-grants.js';
import { TokenEndpoint } from '../../../src/knowledge/drive/application/token-endpoint.js';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer } from '../../support/drive-server.js';
import { type TestService, until, useService } from '../../support/harness.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environmentWithClient });
const REDIRECT = 'https://app.example/done?x=1';

beforeEach(() => drive.reset());
afterAll(() => drive.close());

async function visit(url: string): Promise<{ status: number; location: string | null; text: string }> {
  const response = await fetch(url, { redirect: 'manual' });
  return { status: response.status, location: response.headers.get('location'), text: await response.text() };
}

async function authorizationUrl(at: DriveKnowledge, ids: readonly string[]): Promise<string> {
  const answer = await at.authorize(ids, REDIRECT);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.authorizationUrl;
}

/** An agent with a sign-in, whose files are synced. */
async function signedIn(): Promise<DriveKnowledge> {
  const at = await DriveKnowledge.start(service);
  const url = await authorizationUrl(at, [drive.text('a.txt', 'alpha')]);
  expect(await visit(drive.consent(url))).toMatchObject({ status: 302, location: REDIRECT });
  await at.ended('drive-oauth');
  drive.tokenRequests.length = 0;
  return at;
}

async function tokenOf(at: DriveKnowledge, of: TestService = service): Promise<string> {
  const [source] = await service.database.query<{ id: string; organizationId: string }>(
    'select id::text as id, organization_id::text as "organizationId" from drive_sources where agent_id = $1::uuid',
    [at.agentId],
  );
  return of.app.get(DriveGrants, { strict: false }).accessFor(source!).token();
}

async function setGrant(at: DriveKnowledge, sql: string): Promise<void> {
  await service.database.query(
    `update drive_grants set ${sql} where source_id in (select id from drive_sources where agent_id = $1::uuid)`,
    [at.agentId],
  );
}

describe("a person's sign-in", () => {
  it('adds the selected files to the knowledge of the agent, beside those of a service account', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const [mine, theirs] = [drive.text('mine.txt', 'alpha'), drive.text('theirs.txt', 'bravo')];
    expect((await at.read('drive-oauth')).status).toBe(404);
    await at.synced([theirs]);
    const url = new URL(await authorizationUrl(at, [mine]));
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client-id',
      redirect_uri: `${service.baseUrl}/v1/oauth/drive/callback`,
      scope: 'https://www.googleapis.com/auth/drive.readonly',
      state: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
      access_type: 'offline',
      prompt: 'consent',
    });
    expect((await at.read('drive-oauth')).status).toBe(404);
    expect(await visit(drive.consent(url.href))).toMatchObject({ status: 302, location: REDIRECT });
    const view = await at.ended('drive-oauth');
    expect(view).toMatchObject({
      files: [{ id: mine, name: 'mine.txt', kind: 'file' }],
      integrationId: expect.any(String),
      sync: { state: 'SUCCESS' },
      chunks: 1,
    });
    expect((await at.read()).body).toMatchObject({ files: [{ id: theirs }], chunks: 1 });
    const secrets = await service.database.query(
      'select to_jsonb(s)::text as row from drive_sign_ins s union all select to_jsonb(g)::text from drive_grants g',
    );
    expect(JSON.stringify(secrets)).not.toMatch(/access-|refresh-/);
  });

  it('can be completed once, and opening the authorization link does not use it up', async () => {
    const at = await DriveKnowledge.start(service);
    const back = drive.consent(await authorizationUrl(at, [drive.text('a.txt', 'alpha')]));
    expect((await fetch(back, { method: 'HEAD' })).status).toBe(200);
    expect((await visit(back)).status).toBe(302);
    await at.ended('drive-oauth');
    const again = await visit(back);
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('This sign-in is not known')]);
  });

  it('that takes more than 10 minutes, is denied or cannot see the files ends on an error page, and stores nothing', async () => {
    const at = await DriveKnowledge.start(service);
    const file = drive.text('a.txt', 'alpha');
    const late = drive.consent(await authorizationUrl(at, [file]));
    await service.database.query("update drive_sign_ins set expires_at = '2020-01-01T00:00:00Z'");
    const denied = new URL(drive.consent(await authorizationUrl(at, [file])));
    denied.searchParams.delete('code');
    denied.searchParams.set('error', '<script>access_denied');
    const blind = drive.consent(await authorizationUrl(at, [file, 'of-no-account']));
    for (const [url, words] of [
      [late, 'longer than 10 minutes'],
      [denied.href, 'did not grant access'],
      [blind, 'One of the selected files'],
    ] as const) {
      const page = await visit(url);
      expect([page.status, page.text]).toEqual([400, expect.stringContaining(words)]);
      expect(page.text).not.toContain('script');
    }
    drive.refusal = () => 'invalid_grant';
    expect((await visit(drive.consent(await authorizationUrl(at, [file])))).status).toBe(502);
    expect((await at.read('drive-oauth')).status).toBe(404);
  });

  it('that returns without code and error can still be completed, and one that returns with an error cannot', async () => {
    const at = await DriveKnowledge.start(service);
    const back = drive.consent(await authorizationUrl(at, [drive.text('a.txt', 'alpha')]));
    const without = new URL(back);
    without.searchParams.delete('code');
    const page = await visit(without.href);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('without the code')]);
    expect((await visit(back)).status).toBe(302);
    expect((await at.ended('drive-oauth')).sync.state).toBe('SUCCESS');
    expect((await visit(without.href)).text).toContain('This sign-in is not known');
    const denied = drive.consent(await authorizationUrl(at, ['a']));
    expect((await visit(`${denied}&error=access_denied`)).text).toContain('did not grant access');
    expect((await visit(denied)).text).toContain('This sign-in is not known');
  });

  it.each([
    'https://app.example/\r\nset-cookie: a=b',
    'https://app.example/a\tb',
    ' https://app.example/',
    'https://app.example/a b',
    'https://user@app.example/',
    'https://user:pass@app.example/',
    'javascript:alert(1)',
    'ftp://app.example/',
    'data:text/html,x',
    '//app.example/',
    '/done',
  ])('is not begun for a browser that would be sent to %j', async (redirectUrl) => {
    const at = await DriveKnowledge.start(service);
    expect(await at.authorize(['a'], redirectUrl)).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining('redirectUrl') },
    });
  });

  it('replaces the oldest once 20 are open', async () => {
    const at = await DriveKnowledge.start(service);
    const first = await authorizationUrl(at, ['a']);
    for (let index = 0; index < 20; index += 1) await authorizationUrl(at, ['a']);
    const [row] = await service.database.query<{ count: number }>(
      'select count(*)::int as count from drive_sign_ins where agent_id = $1::uuid',
      [at.agentId],
    );
    expect(row?.count).toBe(20);
    expect((await visit(drive.consent(first))).status).toBe(400);
  });

  it('that is open when the settings are deleted cannot create them again', async () => {
    const at = await signedIn();
    const open = drive.consent(await authorizationUrl(at, [drive.text('b.txt', 'bravo')]));
    expect((await at.remove('drive-oauth')).status).toBe(204);
    const page = await visit(open);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('This sign-in is not known')]);
    expect((await at.read('drive-oauth')).status).toBe(404);
  });

  it('is deleted with its settings', async () => {
    const at = await signedIn();
    expect((await at.remove('drive-oauth')).status).toBe(204);
    expect((await at.read('drive-oauth')).status).toBe(404);
    const left =
      'select (select count(*) from drive_grants where organization_id = $1::uuid) + (select count(*) from secrets where organization_id = $1::uuid) as count';
    await until(
      async () =>
        Number((await service.database.query<{ count: unknown }>(left, [at.organization.id]))[0]?.count) === 0,
      'nothing left',
    );
  });
});

describe('an access token of a sign-in', () => {
  it('is refreshed once, however many processes need a new one', async () => {
    const at = await signedIn();
    const replica = await service.replica();
    try {
      await setGrant(at, "refresh_at = '2020-01-01T00:00:00Z'");
      const tokens = await Promise.all([tokenOf(at), tokenOf(at, replica), tokenOf(at), tokenOf(at, replica)]);
      expect(new Set(tokens).size).toBe(1);
      expect(drive.tokenRequests.map((form) => form.get('grant_type'))).toEqual(['refresh_token']);
    } finally {
      await replica.close();
    }
  });

  it('is refreshed by another process when one has died while refreshing it', async () => {
    const at = await signedIn();
    await setGrant(
      at,
      "refresh_at = '2020-01-01T00:00:00Z', refresh_lease = gen_random_uuid(), refreshing_until = '2020-01-01T00:00:00Z'",
    );
    await tokenOf(at);
    expect(drive.tokenRequests).toHaveLength(1);
  });

  it('stays in use while the drive cannot refresh it', async () => {
    const at = await signedIn();
    const before = await tokenOf(at);
    await setGrant(at, "refresh_at = '2020-01-01T00:00:00Z'");
    drive.refusal = () => 'temporarily_unavailable';
    drive.tokenStatus = 503;
    expect(await tokenOf(at)).toBe(before);
    drive.refusal = () => 'invalid_client';
    drive.tokenStatus = 401;
    expect(await tokenOf(at)).toBe(before);
    drive.refusal = undefined;
    expect(await tokenOf(at)).not.toBe(before);
  });

  it('that is refused has the reason in its error, without the values that were sent', async () => {
    drive.refusal = () => 'unauthorized_client';
    drive.refusalWords = (form) => `The client ${form.get('client_secret')} may not use <${form.get('refresh_token')}>`;
    const asked = service.app
      .get(TokenEndpoint, { strict: false })
      .request({ client_secret: 'client-secret-value', refresh_token: 'refresh+a/b' });
    await expect(asked).rejects.toMatchObject({
      message: 'The drive refuses access: unauthorized_client (The client may not use).',
    });
  });

  it('that was withdrawn makes syncs fail until a person signs in again', async () => {
    const at = await signedIn();
    const { files } = (await at.read('drive-oauth')).body;
    drive.revokeGrants();
    await setGrant(at, "refresh_at = '2020-01-01T00:00:00Z'");
    await expect(tokenOf(at)).rejects.toMatchObject({ reason: 'refused' });
    const url = await authorizationUrl(
      at,
      files.map(({ id }) => id),
    );
    expect((await visit(drive.consent(url))).status).toBe(302);
    expect((await at.ended('drive-oauth')).sync.state).toBe('SUCCESS');
  });
});
