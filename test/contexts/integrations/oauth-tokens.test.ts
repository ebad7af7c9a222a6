import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OAuthGrantChanged } from '../../../src/integrations/domain/integrations.events.js';
import { EventBus } from '../../../src/platform/events/index.js';
import { until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { grantStateOf } from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';
import { refuseRows } from '../../support/refuse-rows.js';
import { oauthSites, reasonOf } from './oauth-sites.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const tools = await OAuthToolServer.start();
const clock = new ManualClock();
const service = useService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}` } });
const { signedIn, grants, token, replace, later, isAccepted } = oauthSites(service, tools, clock);

beforeEach(() => {
  tools.reset();
});
afterAll(() => tools.close());

describe('an access token', () => {
  it('is that of the sign-in while it is valid, without a refresh', async () => {
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

  it('with a short lifetime is not replaced at every call', async () => {
    tools.behaviour.expiresIn = 30;
    const at = await signedIn();
    const first = await token(at);
    await clock.advance(14 * SECOND);
    expect(await token(at)).toBe(first);
    await clock.advance(2 * SECOND);
    expect(await token(at)).not.toBe(first);
  });

  it('without a lifetime is replaced when it is refused', async () => {
    tools.behaviour.expiresIn = undefined;
    const at = await signedIn();
    const first = await token(at);
    await later(1_000 * HOUR);
    expect(await token(at)).toBe(first);
    const second = await replace(at, first);
    expect(second).not.toBe(first);
    // The server refused another call with the old one too.
    expect(await replace(at, first)).toBe(second);
    expect(tools.tokenRequests).toHaveLength(1);
  });

  it('that is refused at once is not replaced for 30 seconds, in any process', async () => {
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

  it('without a refresh token is used until it expires, and then a person has to sign in again', async () => {
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
  it('happens once for all callers in two processes, because a refresh token works once', async () => {
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

  it('is stored even if the database is down when the tokens arrive', async () => {
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

  it('of a process that died is taken over after 30 seconds', async () => {
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

  it('is completed by a process that is stopping', async () => {
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

  it('that the server refuses permanently ends the grant, and its secrets are removed', async () => {
    const at = await signedIn();
    const version = await grants().versionOf(at.server);
    const published: string[] = [];
    service.app.get(EventBus).subscribe(OAuthGrantChanged, ({ integrationId }) => void published.push(integrationId));
    await later(HOUR);
    tools.behaviour.token = 'invalid_grant';
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    expect(await reasonOf(token(at))).toBe('needs_authorization');
    expect(tools.tokenRequests).toHaveLength(1);
    expect(await grantStateOf(service, at.server)).toBe('gone');
    expect(await grants().versionOf(at.server)).not.toBe(version);
    expect(published).toEqual([at.server.integrationId]);
    const where = [at.server.integrationId];
    expect(await service.database.query('select field from secrets where record_id = $1', where)).toEqual([]);

    tools.behaviour.token = 'grants';
    await at.signIn();
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it.each(['error', 'garbage'] as const)('that fails temporarily (%s) keeps the grant', async (failure) => {
    const at = await signedIn();
    const [version, first] = [await grants().versionOf(at.server), await token(at)];
    tools.behaviour.token = failure;
    await later(HOUR - 30 * SECOND);
    // The token is still valid for 30 seconds.
    expect(await token(at)).toBe(first);
    await later(30 * SECOND);
    expect(await reasonOf(token(at))).toBe('unreachable');
    expect(await grants().versionOf(at.server)).toBe(version);
    tools.behaviour.token = 'grants';
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it('that hangs ends after 10 seconds and holds no database connection meanwhile', async () => {
    const at = await signedIn();
    await later(HOUR);
    tools.behaviour.token = 'hangs';
    const failed = reasonOf(token(at));
    await until(() => tools.hangs === 1, 'the token endpoint is asked');
    const held = "select 1 from pg_stat_activity where datname = current_database() and state = 'idle in transaction'";
    // Background work of the service, whose timers have fired, may hold one for a moment.
    await until(async () => (await service.database.query(held)).length === 0, 'no connection is held');
    await clock.advance(10 * SECOND);
    expect(await failed).toBe('timeout');
    tools.reset();
    expect(await isAccepted(await token(at))).toBe(true);
  });

  it('does not delay a caller that aborts', async () => {
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

  it('that ends after a new sign-in does not change the new grant', async () => {
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

const LOOK_MS = 100;

/**
 * Advances the clock until the work is done, so that callers that wait for another process poll again. Not faster than real time:
 * otherwise a refresh that is slow on a busy machine would time out, and its refresh token would be used again.
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
