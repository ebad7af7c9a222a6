import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OAuthGrantChanged } from '../../../src/integrations/oauth/oauth.events.js';
import { OAuthGrants } from '../../../src/integrations/oauth/oauth-grants.js';
import { EventBus } from '../../../src/platform/events/index.js';
import { type TestService, until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import {
  authorizationUrl,
  grantStateOf,
  moveIntegration,
  newOAuthIntegration,
  type OAuthIntegration,
  readIntegration,
  removeIntegration,
} from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';
import { refuseRows } from '../../support/refuse-rows.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const tools = await OAuthToolServer.start();
const clock = new ManualClock();
const service = useService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}` } });

beforeEach(() => {
  tools.reset();
});
afterAll(() => tools.close());

interface Site extends OAuthIntegration {
  readonly url: () => Promise<string>;
  readonly signIn: () => Promise<void>;
}

async function site(): Promise<Site> {
  const at = await newOAuthIntegration(service, tools.url);
  const url = (): Promise<string> => authorizationUrl(service, at);
  const signIn = async (): Promise<void> => {
    const response = await fetch(await tools.consent(await url()), { redirect: 'manual' });
    expect(response.status).toBe(302);
  };
  return { ...at, url, signIn };
}

/** Somebody has signed in to it. */
async function signedIn(): Promise<Site> {
  const at = await site();
  await at.signIn();
  tools.tokenRequests.length = 0;
  return at;
}

const forever = new AbortController().signal;

function grants(of: Pick<TestService, 'app'> = service): OAuthGrants {
  return of.app.get(OAuthGrants, { strict: false });
}

function token({ server }: Pick<Site, 'server'>, of?: Pick<TestService, 'app'>): Promise<string> {
  return grants(of).tokensFor(server).current(forever);
}

function replace(
  { server }: Site,
  rejected: string,
  challenge: string | null = null,
  of?: TestService,
): Promise<string> {
  return grants(of).tokensFor(server).replace(rejected, challenge, forever);
}

async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => (error as { reason?: string }).reason ?? error,
  );
}

/** The wall clock goes on; so does the time that something is remembered for, as far as anything is. */
async function later(ms: number): Promise<void> {
  clock.jump(ms - 5 * SECOND);
  await clock.advance(5 * SECOND);
}

/** Whether the tool server lets a caller with this token in. */
async function isAccepted(accessToken: string): Promise<boolean> {
  const response = await fetch(tools.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${accessToken}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who', arguments: {} } }),
  });
  return response.status !== 401 && response.status !== 403;
}

describe('an access token', () => {
  it('is the one of the sign-in while it is good, and none is asked for', async () => {
    const at = await signedIn();
    const first = await token(at);
    await later(HOUR - 61 * SECOND);
    expect(await token(at)).toBe(first);
    expect(await isAccepted(first)).toBe(true);
    expect(tools.tokenRequests).toHaveLength(0);
  });

  it('is replaced a minute before it expires', async () => {
    const at = await signedIn();
    const first = await token(at);
    await later(HOUR - 60 * SECOND);
    const second = await token(at);
    expect(second).not.toBe(first);
    expect(await isAccepted(second)).toBe(true);
    expect(tools.tokenRequests.map((form) => [form.get('grant_type'), form.get('resource')])).toEqual([
      ['refresh_token', tools.url],
    ]);
    expect(await token(at)).toBe(second);
  });

  it('of a short life is not replaced at every call', async () => {
    tools.behaviour.expiresIn = 30;
    const at = await signedIn();
    const first = await token(at);
    await clock.advance(14 * SECOND);
    expect(await token(at)).toBe(first);
    await clock.advance(2 * SECOND);
    expect(await token(at)).not.toBe(first);
  });

  it('whose life the server does not tell is replaced when it is refused', async () => {
    tools.behaviour.expiresIn = undefined;
    const at = await signedIn();
    const first = await token(at);
    await later(1_000 * HOUR);
    expect(await token(at)).toBe(first);
    const second = await replace(at, first);
    expect(second).not.toBe(first);
    // Another call was refused with the old one too.
    expect(await replace(at, first)).toBe(second);
    expect(tools.tokenRequests).toHaveLength(1);
  });

  it('that is refused as soon as it is there is not replaced for 30 seconds, in any process', async () => {
    const at = await signedIn();
    await later(30 * SECOND);
    const second = await replace(at, await token(at));
    const replica = await service.replica();
    try {
      for (const process of [service, replica])
        expect(await reasonOf(replace(at, second, null, process))).toBe('needs_authorization');
      expect(tools.tokenRequests).toHaveLength(1);
      expect(await token(at)).toBe(second);
      await later(30 * SECOND);
      expect(await replace(at, second, null, replica)).not.toBe(second);
    } finally {
      await replica.close();
    }
  });

  it('without a refresh token is used to its end, and then somebody has to sign in again', async () => {
    tools.behaviour.refreshTokens = false;
    const at = await signedIn();
    const first = await token(at);
    await later(HOUR - SECOND);
    expect(await token(at)).toBe(first);
    await clock.advance(SECOND);
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    expect(await grantStateOf(service, at.server)).toBe('gone');
    expect(tools.tokenRequests).toHaveLength(0);
  });
});

describe('a refresh', () => {
  it('happens once for everybody in two processes, although each refresh token works once', async () => {
    const at = await signedIn();
    const replica = await service.replica();
    try {
      for (let round = 0; round < 3; round += 1) {
        await later(HOUR);
        const asked = Promise.all([service, replica].flatMap((of) => Array.from({ length: 20 }, () => token(at, of))));
        const got = await advancing(asked);
        expect(new Set(got).size).toBe(1);
        expect(tools.tokenRequests).toHaveLength(round + 1);
        expect(await isAccepted(got[0] ?? '')).toBe(true);
      }
      await later(30 * SECOND);
      const rejected = await token(at, replica);
      const asked = Promise.all(
        [service, replica].flatMap((of) => Array.from({ length: 20 }, () => replace(at, rejected, null, of))),
      );
      expect(new Set(await advancing(asked)).size).toBe(1);
      expect(tools.tokenRequests).toHaveLength(4);
    } finally {
      await replica.close();
    }
  });

  it('is kept although the database is away when the tokens arrive', async () => {
    const at = await signedIn();
    await later(HOUR);
    const when = 'new.generation <> old.generation';
    const admit = await refuseRows(service.database, {
      change: 'update',
      on: 'oauth_grants',
      when,
      error: 'disk_full',
    });
    const asked = token(at);
    await until(() => tools.tokenRequests.length === 1, 'the server has given other tokens');
    await clock.advance(SECOND);
    await admit();
    expect(await isAccepted(await advancing(asked))).toBe(true);
    expect(tools.tokenRequests).toHaveLength(1);
  });

  it('is taken over from a process that died in it after 30 seconds', async () => {
    const at = await signedIn();
    await later(HOUR);
    await service.database.query(
      `update oauth_grants set refresh_lease = gen_random_uuid(), refreshing_until = $1 where integration_id = $2`,
      [new Date(clock.now().getTime() + 30 * SECOND).toISOString(), at.server.integrationId],
    );
    const asked = token(at);
    await until(() => clock.sleeping() > 0, 'the refresh is waited for');
    expect(tools.tokenRequests).toHaveLength(0);
    await clock.advance(29 * SECOND);
    expect(tools.tokenRequests).toHaveLength(0);
    expect(await isAccepted(await advancing(asked))).toBe(true);
    expect(tools.tokenRequests).toHaveLength(1);
  });

  it('is completed by a process that stops meanwhile', async () => {
    const at = await signedIn();
    await later(HOUR);
    tools.behaviour.token = 'hangs';
    const asked = token(at);
    await until(() => tools.hangs === 1, 'the server is asked');
    let isStopped = false;
    const stopped = grants()
      .beforeApplicationShutdown()
      .then(() => (isStopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStopped).toBe(false);
    tools.release({ granting: true });
    await stopped;
    expect(await isAccepted(await asked)).toBe(true);
  });

  it('that the server refuses for good ends the grant, and nothing of it is kept', async () => {
    const at = await signedIn();
    const version = await grants().versionOf(at.server);
    const told: string[] = [];
    service.app.get(EventBus).subscribe(OAuthGrantChanged, ({ integrationId }) => void told.push(integrationId));
    await later(HOUR);
    tools.behaviour.token = 'invalid_grant';
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    expect(tools.tokenRequests).toHaveLength(1);
    expect(await grantStateOf(service, at.server)).toBe('gone');
    expect(await grants().versionOf(at.server)).not.toBe(version);
    expect(told).toEqual([at.server.integrationId]);
    const where = [at.server.integrationId];
    expect(await service.database.query('select field from secrets where record_id = $1', where)).toEqual([]);

    tools.behaviour.token = 'grants';
    await at.signIn();
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it.each(['error', 'garbage'] as const)('that fails for now (%s) keeps the grant', async (failure) => {
    const at = await signedIn();
    const [version, first] = [await grants().versionOf(at.server), await token(at)];
    tools.behaviour.token = failure;
    await later(HOUR - 30 * SECOND);
    // It is good for 30 seconds yet.
    expect(await token(at)).toBe(first);
    await later(30 * SECOND);
    expect(await reasonOf(token(at))).toBe('unreachable');
    expect(await grants().versionOf(at.server)).toBe(version);
    tools.behaviour.token = 'grants';
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it('that hangs ends after 10 seconds and holds no connection of the database meanwhile', async () => {
    const at = await signedIn();
    await later(HOUR);
    tools.behaviour.token = 'hangs';
    const failed = reasonOf(token(at));
    await until(() => tools.hangs === 1, 'the token endpoint is asked');
    const held = "select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'";
    // What the service does on its own, now that time has passed, may hold one for a moment.
    await until(async () => (await service.database.query(held)).length === 0, 'no connection is held');
    await clock.advance(10 * SECOND);
    expect(await failed).toBe('timeout');
    tools.reset();
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it('is not waited for by a caller who leaves', async () => {
    const at = await signedIn();
    await later(HOUR);
    tools.behaviour.token = 'hangs';
    const leaving = new AbortController();
    const asked = grants().tokensFor(at.server).current(leaving.signal);
    await until(() => tools.hangs === 1, 'the token endpoint is asked');
    leaving.abort(new Error('left'));
    await expect(asked).rejects.toThrow('left');
    await clock.advance(10 * SECOND);
  });

  it('that ends after a new sign-in leaves the new grant as it is', async () => {
    const at = await signedIn();
    await later(HOUR);
    tools.behaviour.token = 'hangs';
    const late = reasonOf(token(at));
    await until(() => tools.hangs === 1, 'the token endpoint is asked');
    tools.behaviour.token = 'grants';
    await at.signIn();
    const current = await token(at);
    tools.release({ granting: true });
    await late;
    expect(await token(at)).toBe(current);
    expect(await isAccepted(current)).toBe(true);
  });
});

describe('a grant', () => {
  it('is for the address that it was made for, and its tokens go to no other', async () => {
    const at = await signedIn();
    const moved = await moveIntegration(service, at, `${tools.origin}/other`);
    expect(await grantStateOf(service, moved)).toBe('none');
    expect(await grants().versionOf(moved)).toBeNull();
    expect(await reasonOf(token({ server: moved }))).toBe('needs_authorization');
    expect(await grantStateOf(service, at.server)).toBe('authorized');
  });

  it('is absent before anybody signs in', async () => {
    const at = await site();
    expect(await grantStateOf(service, at.server)).toBe('none');
    expect(await reasonOf(token(at))).toBe('needs_authorization');
  });

  it.each([
    ['without its tokens', 'delete from secrets where record_id = $1'],
    ['whose tokens do not open any more', `update secrets set ciphertext = 'nonsense' where record_id = $1`],
  ])('%s is gone, and a new sign-in is the way out', async (_how, statement) => {
    const at = await signedIn();
    await service.database.query(statement, [at.server.integrationId]);
    await clock.advance(5 * SECOND);
    expect(await grantStateOf(service, at.server)).toBe('gone');
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    const test = `/v1/agents/${at.agentId}/tool-integrations/${at.server.integrationId}/test`;
    expect((await service.http('POST', test, { key: at.key })).body).toMatchObject({ ok: false, tools: 0 });
    expect(await readIntegration(service, at)).toMatchObject({ status: 'needs_authorization' });
    await at.signIn();
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it('goes with its integration', async () => {
    const at = await signedIn();
    await removeIntegration(service, at);
    expect(
      await service.database.query('select 1 from oauth_grants where integration_id = $1', [at.server.integrationId]),
    ).toEqual([]);
  });

  it('that lacks permissions stays, and the next sign-in asks for all of them', async () => {
    tools.behaviour.challengedScope = 'read';
    tools.behaviour.requiredScope = 'write';
    const at = await signedIn();
    const first = await token(at);
    expect(await isAccepted(first)).toBe(false);
    const challenge = 'Bearer error="insufficient_scope", scope="write"';
    expect(await reasonOf(replace(at, first, challenge))).toBe('needs_authorization');
    expect(await token(at)).toBe(first);
    expect(tools.tokenRequests).toHaveLength(0);

    const url = await at.url();
    expect(new URL(url).searchParams.get('scope')).toBe('read write');
    await fetch(await tools.consent(url), { redirect: 'manual' });
    expect(await isAccepted(await token(at))).toBe(true);
    // The client that is known already asked.
    expect(tools.registrations).toHaveLength(1);
  });

  it('changes its version with a sign-in and not with a refresh', async () => {
    const at = await signedIn();
    const version = await grants().versionOf(at.server);
    await later(HOUR);
    await token(at);
    expect(await grants().versionOf(at.server)).toBe(version);
    await at.signIn();
    expect(await grants().versionOf(at.server)).not.toBe(version);
  });

  it('of another process shows within 5 seconds', async () => {
    const at = await site();
    const replica = await service.replica();
    try {
      expect(await grantStateOf(replica, at.server)).toBe('none');
      await at.signIn();
      await clock.advance(5 * SECOND);
      expect(await grantStateOf(replica, at.server)).toBe('authorized');
    } finally {
      await replica.close();
    }
  });
});

const LOOK_MS = 100;

/**
 * Lets those who wait for another process look again, until the work is done. No faster than the wall's time: a refresh
 * that is slow on a busy machine would be given up, and its refresh token used again.
 */
async function advancing<Result>(work: Promise<Result>): Promise<Result> {
  let done = false;
  const settled = work.finally(() => (done = true));
  settled.catch(() => undefined);
  const look = async (): Promise<boolean> => {
    await clock.advance(LOOK_MS);
    return done;
  };
  await until(look, 'the work is done', { everyMs: LOOK_MS });
  return settled;
}
