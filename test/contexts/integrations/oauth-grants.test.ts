import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { grantStateOf, moveIntegration, readIntegration, removeIntegration } from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';
import { oauthSites, reasonOf } from './oauth-sites.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const tools = await OAuthToolServer.start();
const clock = new ManualClock();
const service = useService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}` } });
const { site, signedIn, grants, token, replace, later, isAccepted } = oauthSites(service, tools, clock);

beforeEach(() => {
  tools.reset();
});
afterAll(() => tools.close());

describe('a grant', () => {
  it('is valid for one address, and its tokens are not sent to another', async () => {
    const at = await signedIn();
    const moved = await moveIntegration(service, at, `${tools.origin}/other`);
    expect(await grantStateOf(service, moved)).toBe('none');
    expect(await grants().versionOf(moved)).toBeNull();
    expect(await reasonOf(token({ server: moved }))).toBe('needs_authorization');
    expect(await grantStateOf(service, at.server)).toBe('authorized');
  });

  it('does not exist before a sign-in', async () => {
    const at = await site();
    expect(await grantStateOf(service, at.server)).toBe('none');
    expect(await reasonOf(token(at))).toBe('needs_authorization');
  });

  it.each([
    ['without its tokens', 'delete from secrets where record_id = $1'],
    ['whose tokens cannot be decrypted', `update secrets set ciphertext = 'nonsense' where record_id = $1`],
  ])('%s is lost, and a new sign-in replaces it', async (_how, statement) => {
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

  it('is removed with its integration', async () => {
    const at = await signedIn();
    await removeIntegration(service, at);
    expect(
      await service.database.query('select 1 from oauth_grants where integration_id = $1', [at.server.integrationId]),
    ).toEqual([]);
  });

  it('that lacks permissions stays, and the next sign-in requests all of them', async () => {
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
    // The registered client was reused.
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

  it('of another process is visible within 5 seconds', async () => {
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
