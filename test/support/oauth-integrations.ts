import { needsAuthorization } from '../../src/integrations/oauth/oauth.errors.js';
import { IntegrationGrants } from '../../src/integrations/oauth/integration-grants.js';
import type { ProtectedServer } from '../../src/integrations/oauth/protected-servers.js';
import type { Answer, RunningService, TestService } from './harness.js';

/** An integration of an agent, and a key that may change it. */
export interface OAuthIntegration {
  readonly key: string;
  readonly agentId: string;
  readonly server: ProtectedServer;
}

export interface NewOAuthIntegration {
  readonly key: string;
  readonly organizationId: string;
  readonly agentIds: readonly [string, ...string[]];
  readonly url: string;
  /** `oauth` unless it is said. */
  readonly auth?: 'oauth' | 'none';
}

/** An integration of a new agent of a new organization. */
export async function newOAuthIntegration(
  service: RunningService,
  url: string,
  auth?: 'oauth' | 'none',
): Promise<OAuthIntegration> {
  const { id: organizationId, key } = await service.organization();
  const agentId = await service.agent(key);
  return addIntegration(service, { key, organizationId, agentIds: [agentId], url, ...(auth && { auth }) });
}

/** Of each of the agents; the first one is the one whose it is made as. */
export async function addIntegration(service: RunningService, added: NewOAuthIntegration): Promise<OAuthIntegration> {
  const { key, organizationId, agentIds, url, auth = 'oauth' } = added;
  const ids: string[] = [];
  for (const agentId of agentIds) {
    const answer = await service.http<{ id: string }>('POST', pathOf(agentId), { key, body: bodyOf(url, auth) });
    ids.push(succeeded(answer, 201).body.id);
  }
  const [integrationId = ''] = ids;
  return { key, agentId: agentIds[0], server: { organizationId, integrationId, url, transport: 'streamableHttp' } };
}

/** Changes the address of one. @returns the server as it is now */
export async function moveIntegration(
  service: RunningService,
  { key, agentId, server }: OAuthIntegration,
  url: string,
): Promise<ProtectedServer> {
  const path = pathOf(agentId, server.integrationId);
  succeeded(await service.http('PUT', path, { key, body: bodyOf(url, 'oauth') }), 200);
  return { ...server, url };
}

export async function removeIntegration(
  service: RunningService,
  { key, agentId, server }: OAuthIntegration,
): Promise<void> {
  succeeded(await service.http('DELETE', pathOf(agentId, server.integrationId), { key }), 204);
}

export function authorize(
  service: RunningService,
  { key, agentId, server }: OAuthIntegration,
  body: object = { redirectUrl: 'https://app.example/' },
): Promise<Answer> {
  return service.http('POST', `${pathOf(agentId, server.integrationId)}/authorize`, { key, body });
}

/** Where a person signs in to it. */
export async function authorizationUrl(service: RunningService, at: OAuthIntegration, body?: object): Promise<string> {
  return String(succeeded(await authorize(service, at, body), 200).body['authorizationUrl']);
}

export async function readIntegration<View = Record<string, unknown>>(
  service: RunningService,
  { key, agentId, server }: OAuthIntegration,
): Promise<View> {
  return succeeded(await service.http<View>('GET', pathOf(agentId, server.integrationId), { key }), 200).body;
}

/** Whether a connection to the server would get a token now; if not, the reason why a user must sign in. */
export async function grantStateOf(
  { app }: Pick<TestService, 'app'>,
  server: ProtectedServer,
): Promise<'authorized' | 'none' | 'gone'> {
  try {
    await app.get(IntegrationGrants, { strict: false }).tokensFor(server).current(new AbortController().signal);
    return 'authorized';
  } catch (error) {
    const { message } = error as Error;
    for (const state of ['none', 'gone'] as const) if (message === needsAuthorization(state).message) return state;
    throw error;
  }
}

function pathOf(agentId: string, integrationId?: string): string {
  const all = `/v1/agents/${agentId}/tool-integrations`;
  return integrationId === undefined ? all : `${all}/${integrationId}`;
}

function bodyOf(url: string, auth: 'oauth' | 'none'): object {
  return { type: 'custom-mcp', app: 'Protected', url, transportType: 'streamableHttp', auth: { type: auth } };
}

function succeeded<Body>(answer: Answer<Body>, status: number): Answer<Body> {
  if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
}
