import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { RekeyUsers } from '../../../src/conversations/jobs/rekey-users.job.js';
import { UserKeys } from '../../../src/conversations/index.js';
import { Clock } from '../../../src/platform/clock/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { createLogger } from '../../../src/platform/telemetry/index.js';
import { SecretUnreadable, Vault } from '../../../src/platform/vault/index.js';
import { message, until, useService } from '../../support/harness.js';
import { embeddedOnly } from '../../support/modes.js';
import { calls, says } from '../../support/scripted-models.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';
import { type Credentials, mintSession, renewSession } from '../../support/web-sessions.js';
import { of, save, textsOf } from './support.js';

const lines: string[] = [];
const service = useService({
  environment: { LOG_LEVEL: 'debug' },
  log: { write: (line: string) => void lines.push(line) },
});

const COLUMNS = [
  ['sessions', 'user_key'],
  ['runs', 'session_user_key'],
  ['traces', 'user_key'],
  ['memories', 'user_key'],
  ['agent_users', 'user_key'],
] as const;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const asUuid = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
/** The digest that the previous release stores of a user. */
const bareOf = (userId: string): string => asUuid(sha256(userId));

/** Mints a session for a visitor and has the agent save a memory of them. */
async function visit(talk: Talk, endUser: string, text: string): Promise<Credentials> {
  const credentials = await mintSession(service, talk.key, { assistant_id: talk.agentId, endUser });
  service.models.next(calls('memory_save', { text }), says('Noted.'));
  await runWith(credentials);
  return credentials;
}

async function runWith({ session, pass }: Credentials): Promise<void> {
  const run = await service.http('POST', `/v1/threads/${session.thread_id}/runs`, {
    key: pass.token,
    body: message('Hello'),
  });
  expect(run.status).toBe(200);
}

/** The whole database as text, table by table. */
async function everything(): Promise<string> {
  const tables = await service.database.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    rows.push(
      ...(await service.database.query<{ row: string }>(`select each::text as row from ${name} each`)).map(
        ({ row }) => `${name} ${row}`,
      ),
    );
  }
  return rows.join('\n');
}

function formsOf(endUser: string): string[] {
  const digest = sha256(endUser);
  const half = digest.subarray(0, 16);
  return [
    endUser,
    bareOf(endUser),
    ...[digest, half].flatMap((bytes) => [
      bytes.toString('hex'),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
    ]),
  ];
}

async function storedUsers({ organization }: Talk): Promise<Record<string, string[]>> {
  const stored: Record<string, string[]> = {};
  for (const [table, column] of COLUMNS) {
    const rows = await service.database.query<{ user: string }>(
      `select distinct ${column}::text as user from ${table} where organization_id = $1 and ${column} is not null`,
      [organization.id],
    );
    stored[table] = rows.map(({ user }) => user);
  }
  return stored;
}

/** Changes a user's rows to the form of the previous release. */
async function storeAsBefore({ organization, agentId }: Talk, userId: string): Promise<void> {
  const keyed = await service.app.get(UserKeys, { strict: false }).of(organization.id, userId);
  for (const day of ['2026-11-20', '2026-11-21']) {
    await service.database.query(`insert into agent_users values ($1, $2, $3, $4)`, [
      organization.id,
      agentId,
      day,
      bareOf(userId),
    ]);
  }
  // A process of this release has counted the same user on the same day, so re-keying must merge the two rows.
  await service.database.query(`insert into agent_users values ($1, $2, '2026-11-21', $3)`, [
    organization.id,
    agentId,
    keyed,
  ]);
  for (const [table, column] of COLUMNS.slice(0, 4)) {
    await service.database.query(`update ${table} set ${column} = $2 where organization_id = $1 and ${column} = $3`, [
      organization.id,
      bareOf(userId),
      keyed,
    ]);
  }
  const salt = Buffer.from('sixteen bytes ok');
  const digest = createHmac('sha256', salt).update(Buffer.from(userId, 'utf16le')).digest('base64url');
  await service.database.query(
    'update sessions set end_user_salt = $2, end_user_digest = $3 where organization_id = $1 and user_key is not null',
    [...[organization.id, salt.toString('base64url'), digest]],
  );
}

const rekey = (): Promise<void> =>
  service.app.get(RekeyUsers, { strict: false }).process({ signal: new AbortController().signal } as never);

describe('a user of an agent', () => {
  it('is stored under another key in each organization, and nowhere in clear or as a digest without a key', async () => {
    const endUser = `visitor-${newId()}`;
    const [one, other] = [await Talk.start(service), await Talk.start(service)];
    for (const talk of [one, other]) {
      const credentials = await visit(talk, endUser, 'Likes tea');
      expect((await renewSession(service, talk.key, credentials, endUser)).status).toBe(200);
      expect((await renewSession(service, talk.key, credentials, `${endUser} `)).status).toBe(400);
      expect(await textsOf(service, talk, endUser)).toEqual(['Likes tea']);
    }
    await until(async () => Object.values(await storedUsers(one)).flat().length === 4, 'the trace is there');
    const [ofOne, ofOther] = [await storedUsers(one), await storedUsers(other)];
    expect(new Set(Object.values(ofOne).flat()).size).toBe(1);
    expect(ofOne['memories']).not.toEqual(ofOther['memories']);
    expect(
      (await service.http('DELETE', `/v1/agents/${one.agentId}/memories?userId=${endUser}`, { key: one.key })).body,
    ).toEqual({ deleted: 1 });
    const dump = await everything();
    expect(dump).toContain(ofOther['memories']?.[0]);
    expect(lines.some((line) => line.includes('memories_erased'))).toBe(true);
    for (const form of formsOf(endUser)) for (const text of [dump, lines.join('\n')]) expect(text).not.toContain(form);
  });

  it('is the same in a session and in userContext.userId', async () => {
    const talk = await Talk.start(service);
    await visit(talk, 'ann', 'Likes tea');
    service.models.next(says('Hello Ann.'));
    await talk.run('Hello', of('ann'));
    expect(new Set(Object.values(await storedUsers(talk)).flat()).size).toBe(1);
  });
});

describe('users that the previous release stored', () => {
  it('keep their memories, sessions and counts, under the key of the organization', async () => {
    const endUser = `visitor-${newId()}`;
    const talk = await Talk.start(service);
    const credentials = await visit(talk, endUser, 'Likes tea');
    await until(async () => (await storedUsers(talk))['traces']?.length === 1, 'the trace is there');
    const before = await storedUsers(talk);
    await storeAsBefore(talk, endUser);
    expect(await everything()).toContain(bareOf(endUser));
    // A process re-keys memories before it serves.
    const replica = await service.replica();
    try {
      expect(await textsOf(replica, talk, endUser)).toEqual(['Likes tea']);
      expect((await storedUsers(talk))['sessions']).toEqual([bareOf(endUser)]);
      expect((await renewSession(replica, talk.key, credentials, endUser)).status).toBe(200);
      expect((await renewSession(replica, talk.key, credentials, 'somebody else')).status).toBe(400);
      // The new process has not cached this session yet.
      replica.models.next(says('Hello.'));
      const run = await replica.http('POST', `/v1/threads/${credentials.session.thread_id}/runs`, {
        key: credentials.pass.token,
        body: message('Who am I?'),
      });
      expect(run.status).toBe(200);
      expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('Likes tea');
    } finally {
      await replica.close();
    }
    await rekey();
    const after = await storedUsers(talk);
    expect(after).toEqual({ ...before, agent_users: before['memories'] });
    expect(
      await service.database.query('select 1 from agent_users where organization_id = $1', [talk.organization.id]),
    ).toHaveLength(2);
    await rekey();
    expect(await storedUsers(talk)).toEqual(after);
    expect(await everything()).not.toContain(bareOf(endUser));
  });

  it('are found again after processes of that release wrote beside this one', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea');
    await storeAsBefore(talk, 'ann');
    await save(service, talk, 'ann', 'Plays chess');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Plays chess']);
    await rekey();
    expect((await textsOf(service, talk, 'ann')).sort()).toEqual(['Likes tea', 'Plays chess']);
  });
});

describe('the key of an organization’s users', () => {
  const make = (): UserKeys =>
    new UserKeys(
      service.database,
      service.app.get(Vault, { strict: false }),
      createLogger({ logLevel: 'silent' }),
      service.app.get(Clock, { strict: false }),
    );

  it('is created once, even if many processes need it at the same time', async () => {
    const { id } = await service.organization();
    const users = await Promise.all(Array.from({ length: 8 }, () => make().of(id, 'ann')));
    expect(new Set(users).size).toBe(1);
    expect(await service.database.query('select 1 from secrets where organization_id = $1', [id])).toHaveLength(1);
  });

  it('costs a run no statement once this process has read it', async () => {
    const { id } = await service.organization();
    const users = make();
    const ofSecrets = async (work: () => Promise<unknown>): Promise<number> =>
      (await statementsOf(service.database, work)).filter((sql) => /\bsecrets\b/.test(sql)).length;
    expect(await ofSecrets(() => users.of(id, 'ann'))).toBeGreaterThan(0);
    expect(await ofSecrets(() => users.ofRun(id, { session: null, userContext: { userId: 'bob' } }))).toBe(0);
  });

  it('is deleted with the organization', async () => {
    const { id } = await service.organization();
    await make().of(id, 'ann');
    await service.database.query('delete from organizations where id = $1', [id]);
    expect(await service.database.query('select 1 from secrets where organization_id = $1', [id])).toEqual([]);
  });

  it('is not replaced if it cannot be decrypted: runs continue without memory', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea');
    await service.database.query(
      `update secrets set key_id = 'lost' where organization_id = $1 and field = 'users.key'`,
      [talk.organization.id],
    );
    expect(await make().ofRun(talk.organization.id, { session: null, userContext: { userId: 'ann' } })).toBeNull();
    await expect(make().of(talk.organization.id, 'ann')).rejects.toThrow(SecretUnreadable);
    await service.database.query(`delete from secrets where key_id = 'lost'`);
  });
});

embeddedOnly('a rotation of the master key', () => {
  it('leaves users as they are', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea');
    expect(await service.cli('secrets', 'rotate')).toMatchObject({ remaining: 0 });
    const replica = await service.replica();
    try {
      expect(await textsOf(replica, talk, 'ann')).toEqual(['Likes tea']);
    } finally {
      await replica.close();
    }
  });
});
