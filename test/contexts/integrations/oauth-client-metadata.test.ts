import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { authorizationUrl as urlOf, newOAuthIntegration } from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';

const PUBLIC_URL = 'https://agents.example/service';
const METADATA_URL = `${PUBLIC_URL}/v1/oauth/mcp/client-metadata`;

const tools = await OAuthToolServer.start();
const service = useService({
  environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}`, PUBLIC_URL },
});

beforeEach(() => {
  tools.reset();
});
afterAll(() => tools.close());

async function authorizationUrl(): Promise<URL> {
  return new URL(await urlOf(service, await newOAuthIntegration(service, tools.url)));
}

it('the service publishes its client metadata at the address that is its client id', async () => {
  const answer = await service.http('GET', '/v1/oauth/mcp/client-metadata');
  expect(answer).toMatchObject({
    status: 200,
    body: {
      client_id: METADATA_URL,
      redirect_uris: [`${PUBLIC_URL}/v1/oauth/mcp/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
  });
});

it('the service uses that address and does not register with a server that supports it', async () => {
  tools.behaviour.clientIdDocuments = true;
  const url = await authorizationUrl();
  expect(url.searchParams.get('client_id')).toBe(METADATA_URL);
  const back = new URL(await tools.consent(url.href));
  expect(`${back.origin}${back.pathname}`).toBe(`${PUBLIC_URL}/v1/oauth/mcp/callback`);
  const response = await fetch(`${service.baseUrl}/v1/oauth/mcp/callback${back.search}`, { redirect: 'manual' });
  expect(response.status).toBe(302);
  expect(tools.registrations).toEqual([]);
  expect(tools.tokenRequests.map((form) => form.get('client_id'))).toEqual([METADATA_URL]);
});

it('the service registers with a server that does not support it', async () => {
  expect((await authorizationUrl()).searchParams.get('client_id')).toMatch(/^client-/);
  expect(tools.registrations).toHaveLength(1);
});
