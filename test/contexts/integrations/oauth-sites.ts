import { expect } from '@jest/globals';
import { IntegrationGrants } from '../../../src/integrations/oauth/integration-grants.js';
import type { TestService } from '../../support/harness.js';
import type { ManualClock } from '../../support/manual-clock.js';
import { authorizationUrl, newOAuthIntegration, type OAuthIntegration } from '../../support/oauth-integrations.js';
import type { OAuthToolServer } from '../../support/oauth-tool-server.js';

const CACHE_MS = 5_000;
const forever = new AbortController().signal;

/** An integration of a new organization, and the sign-ins to its server. */
export interface Site extends OAuthIntegration {
  readonly url: () => Promise<string>;
  readonly signIn: () => Promise<void>;
}

/** What tests of grants do with integrations at one tool server. */
export function oauthSites(service: TestService, tools: OAuthToolServer, clock: ManualClock) {
  async function site(): Promise<Site> {
    const at = await newOAuthIntegration(service, tools.url);
    const url = (): Promise<string> => authorizationUrl(service, at);
    const signIn = async (): Promise<void> => {
      const response = await fetch(await tools.consent(await url()), { redirect: 'manual' });
      expect(response.status).toBe(302);
    };
    return { ...at, url, signIn };
  }

  /** A site to which a person has signed in. */
  async function signedIn(): Promise<Site> {
    const at = await site();
    await at.signIn();
    tools.tokenRequests.length = 0;
    return at;
  }

  function grants(of: Pick<TestService, 'app'> = service): IntegrationGrants {
    return of.app.get(IntegrationGrants, { strict: false });
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

  /** Advances the wall clock, and the monotonic clock by the lifetime of caches. */
  async function later(ms: number): Promise<void> {
    clock.jump(ms - CACHE_MS);
    await clock.advance(CACHE_MS);
  }

  /** Whether the tool server accepts the token. */
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

  return { site, signedIn, grants, token, replace, later, isAccepted };
}

export async function reasonOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => (error as { reason?: string }).reason ?? error,
  );
}
