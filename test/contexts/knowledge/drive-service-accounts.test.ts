import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { Canary } from '../../support/canary.js';
import { DriveKnowledge } from '../../support/drive-knowledge.js';
import { DriveServer, json, keyFile, refusal } from '../../support/drive-server.js';
import { until, useService } from '../../support/harness.js';

const drive = await DriveServer.start();
const service = useService({ environment: drive.environment });

beforeEach(() => drive.reset());
afterAll(() => drive.close());

/** The API key of a member with this role. */
async function personOf(organizationId: string, role: string): Promise<{ memberId: string; key: string }> {
  const { id: memberId } = await service.cli<{ id: string }>(
    'member',
    'add',
    organizationId,
    '--email',
    `${newId()}@example.com`,
    '--role',
    role,
  );
  const { key } = await service.cli<{ key: string }>(
    'key',
    'create',
    '--org',
    organizationId,
    '--capabilities',
    'manageAgents',
    '--member',
    memberId,
  );
  return { memberId, key };
}

describe('a service account', () => {
  it('is added once the drive accepts its key, and is listed without it', async () => {
    const at = await DriveKnowledge.start(service);
    const answer = await at.addAccount(keyFile({ client_email: 'reader@project-1.iam.example' }));
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.any(String),
      clientEmail: 'reader@project-1.iam.example',
      projectId: 'project-1',
      addedBy: expect.any(String),
      createdAt: expect.any(String),
      agentCount: 0,
    });
    expect((await at.accounts()).body).toEqual({ serviceAccounts: [answer.body] });
    expect(drive.requests.map(({ path }) => path)).toEqual(['/drive/v3/about']);
    const stored = await service.database.query(
      'select to_jsonb(a)::text as row from drive_service_accounts a where id = $1::uuid',
      [answer.body.id],
    );
    expect(JSON.stringify(stored)).toContain('reader@project-1.iam.example');
    expect(JSON.stringify(stored)).not.toContain('PRIVATE KEY');
  });

  it.each([
    ['no JSON', 'not a key', /plain JSON text/],
    ['another type', keyFile({ type: 'authorized_user' }), /'type' is not 'service_account'/],
    ['no project', keyFile({ project_id: undefined }), /lacks 'project_id'/],
    ['no e-mail', keyFile({ client_email: '' }), /lacks 'client_email'/],
    ['no key', keyFile({ private_key: 'secret-canary' }), /'private_key' is not an RSA key/],
    [
      'a key of another kind',
      keyFile({
        private_key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
      }),
      /not an RSA key/,
    ],
    [
      'a short key',
      keyFile({
        private_key: generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
      }),
      /shorter than 2048 bits/,
    ],
  ])('is refused where the file has %s, in words that quote nothing of it', async (_what, content, words) => {
    const at = await DriveKnowledge.start(service);
    const answer = await at.addAccount(content);
    expect([answer.status, answer.body['code' as never]]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect(answer.text).toMatch(words);
    expect(answer.text).not.toMatch(/canary|BEGIN P.*\w{20}/);
    expect(drive.tokenRequests).toHaveLength(0);
  });

  it('is rejected with the reason of the drive, and nothing is stored', async () => {
    const at = await DriveKnowledge.start(service);
    drive.refusal = () => 'invalid_grant';
    const byToken = await at.addAccount();
    expect(byToken).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('invalid_grant (Account not found)') },
    });
    drive.refusal = undefined;
    drive.before = (_request, response) => (json(response, 403, refusal('accessNotConfigured')), true);
    const byApi = await at.addAccount();
    expect(byApi).toMatchObject({ status: 400, body: { message: expect.stringContaining('accessNotConfigured') } });
    expect((await at.accounts()).body.serviceAccounts).toEqual([]);
  });

  it('is not rejected while the drive is unavailable: the answer is 503', async () => {
    const at = await DriveKnowledge.start(service);
    drive.before = (_request, response) => (json(response, 500, {}), true);
    const failing = await at.addAccount();
    expect([failing.status, failing.headers.get('retry-after')]).toEqual([503, '1']);
    drive.before = (_request, response) => (json(response, 429, {}, { 'retry-after': '7' }), true);
    const busy = await at.addAccount();
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '7']);
    expect((await at.accounts()).body.serviceAccounts).toEqual([]);
  });

  it('can be added only once to an organization', async () => {
    const at = await DriveKnowledge.start(service);
    const content = keyFile();
    expect((await at.addAccount(content)).status).toBe(201);
    expect(await at.addAccount(content)).toMatchObject({ status: 409, body: { code: 'service_account_exists' } });
    expect((await (await DriveKnowledge.start(service)).addAccount(content)).status).toBe(201);
  });

  it('is used only with the addresses in the settings, not those in its key file', async () => {
    const canary = await Canary.start();
    const at = await DriveKnowledge.start(service);
    const uris = Object.fromEntries(
      ['token_uri', 'auth_uri', 'auth_provider_x509_cert_url', 'client_x509_cert_url'].map((name) => [
        name,
        `${canary.url}/${name}`,
      ]),
    );
    expect((await at.addAccount(keyFile({ ...uris, universe_domain: `127.0.0.1:${canary.port}` }))).status).toBe(201);
    const file = drive.text('a.txt', 'alpha');
    expect((await at.synced([file])).sync.state).toBe('SUCCESS');
    expect(canary.connections).toBe(0);
    await canary.close();
  });

  it('cannot be managed with keys that have an allowlist', async () => {
    const at = await DriveKnowledge.start(service);
    const { key } = await at.organization.keyWith(['manageAgents'], [at.agentId]);
    expect(await at.addAccount(keyFile(), key)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_org_endpoint_for_scoped_key' },
    });
  });
});

describe('deleting a service account', () => {
  it('deletes the settings of agents that use it, and their documents', async () => {
    const at = await DriveKnowledge.withAccount(service);
    const view = await at.synced([drive.text('a.txt', 'alpha')]);
    expect((await at.accounts()).body.serviceAccounts).toMatchObject([{ agentCount: 1 }]);
    expect(await at.removeAccount(view.integrationId)).toMatchObject({
      status: 200,
      body: { id: view.integrationId, deleted: true },
    });
    expect((await at.read()).status).toBe(404);
    expect((await at.accounts()).body.serviceAccounts).toEqual([]);
    await until(async () => (await rowsOf(at.organization.id)).every(({ count }) => count === 0), 'nothing left');
  });

  it('is allowed to owners, admins and the member who added it', async () => {
    const at = await DriveKnowledge.start(service);
    const [adder, other, admin] = [
      await personOf(at.organization.id, 'member'),
      await personOf(at.organization.id, 'member'),
      await personOf(at.organization.id, 'admin'),
    ];
    const [first, second] = [
      (await at.addAccount(keyFile(), adder.key)).body,
      (await at.addAccount(keyFile(), adder.key)).body,
    ];
    expect((await at.accounts()).body.serviceAccounts).toMatchObject([{ addedBy: adder.memberId }, {}]);
    expect(await at.removeAccount(first.id, other.key)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_service_account_manage' },
    });
    expect((await at.removeAccount(first.id, adder.key)).status).toBe(200);
    expect((await at.removeAccount(second.id, admin.key)).status).toBe(200);
  });

  it('answers 404 for an account of another organization, as for one that does not exist', async () => {
    const [mine, theirs] = [await DriveKnowledge.start(service), await DriveKnowledge.start(service)];
    const { id } = (await theirs.addAccount()).body;
    const [foreign, unknown] = [await mine.removeAccount(id), await mine.removeAccount(newId())];
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
  });
});

describe('the service account of a drive PUT', () => {
  it('is the only available one, or must be named', async () => {
    const at = await DriveKnowledge.start(service);
    const file = drive.text('a.txt', 'alpha');
    const none = await at.put([file]);
    expect([none.status, none.body]).toEqual([400, { error: 'drive_sa_not_configured', message: expect.any(String) }]);
    const { id } = (await at.addAccount()).body;
    expect((await at.put([file])).body).toMatchObject({ integrationId: id, sync: { state: 'IN_PROGRESS' } });
    const second = (await at.addAccount()).body;
    const several = await at.put([file]);
    expect([several.status, several.body]).toEqual([400, { error: 'drive_sa_ambiguous', message: expect.any(String) }]);
    expect((await at.put([file], { integrationId: second.id })).body.integrationId).toBe(second.id);
    expect((await at.put([file], { integrationId: newId() })).status).toBe(404);
  });

  it('is one that the member added, or any for an admin', async () => {
    const at = await DriveKnowledge.start(service);
    const file = drive.text('a.txt', 'alpha');
    const member = await personOf(at.organization.id, 'member');
    const { id } = (await at.addAccount()).body;
    expect((await at.put([file], { key: member.key })).body).toMatchObject({ error: 'drive_sa_not_configured' });
    expect(await at.put([file], { key: member.key, integrationId: id })).toMatchObject({
      status: 403,
      body: { code: 'forbidden_drive_sa' },
    });
    const own = (await at.addAccount(keyFile(), member.key)).body;
    expect((await at.put([file], { key: member.key })).body.integrationId).toBe(own.id);
  });
});

async function rowsOf(organizationId: string): Promise<{ count: number }[]> {
  const tables = ['drive_sources', 'drive_items', 'drive_service_accounts', 'knowledge_documents', 'secrets'];
  return service.database.query(
    tables
      .map((table) => `select count(*)::int as count from ${table} where organization_id = $1::uuid`)
      .join(' union all '),
    [organizationId],
  );
}

describe('a selection of files', () => {
  it.each([429, 500, 503])('succeeds although the drive answers %s once for each file', async (status) => {
    const at = await DriveKnowledge.withAccount(service);
    const ids = ['a.txt', 'b.txt', 'c.txt'].map((name) => drive.text(name, name));
    // A sync of another test may still request other files.
    const unanswered = new Set(ids.map((id) => `/drive/v3/files/${id}`));
    drive.before = ({ path }, response) => {
      if (!unanswered.delete(path)) return false;
      json(response, status, {}, { 'retry-after': '0' });
      return true;
    };
    expect((await at.put(ids)).status).toBe(200);
    expect(unanswered.size).toBe(0);
    await at.ended();
  });

  it.each([429, 500, 503])(
    'is 503 when the drive answers %s again, and at once when the drive names a longer pause than a request can wait',
    async (status) => {
      const at = await DriveKnowledge.withAccount(service);
      const id = drive.text('a.txt', 'alpha');
      for (const [wait, looks] of [
        ['0', 2],
        ['6', 1],
      ] as const) {
        drive.requests.length = 0;
        drive.before = (_request, response) => (json(response, status, {}, { 'retry-after': wait }), true);
        const answer = await at.put([id]);
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, wait === '0' ? '1' : wait]);
        expect(drive.requests.filter(({ path }) => path.endsWith(`/${id}`))).toHaveLength(looks);
      }
    },
  );
});
