import type { TestService } from './harness.js';
import type { Talk } from './talk.js';
import type { ToolServer } from './tool-server.js';

type Body = Readonly<Record<string, unknown>>;

export interface IntegrationView {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly excluded: boolean }[];
}

/** A custom server without credentials; `more` is what else the request has. */
export function customServer(
  app: string,
  { url, transportType }: Pick<ToolServer, 'url' | 'transportType'>,
  more: Body = {},
): Body {
  return { type: 'custom-mcp', app, url, transportType, auth: { type: 'none' }, ...more };
}

/** Creates an integration of the talk's agent. @throws unless it is created; whether it is connected is another question */
export function addIntegration(service: TestService, talk: Talk, body: Body): Promise<IntegrationView> {
  return request(service, talk, 'POST', '', 201, body);
}

/** As `addIntegration`, for one that must be connected. */
export async function connect(service: TestService, talk: Talk, body: Body): Promise<IntegrationView> {
  const added = await addIntegration(service, talk, body);
  if (added.status !== 'connected') throw new Error(`The integration is not connected: ${added.error ?? ''}`);
  return added;
}

export function changeIntegration(service: TestService, talk: Talk, id: string, body: Body): Promise<IntegrationView> {
  return request(service, talk, 'PUT', `/${id}`, 200, body);
}

export function readIntegration(service: TestService, talk: Talk, id: string): Promise<IntegrationView> {
  return request(service, talk, 'GET', `/${id}`, 200);
}

export function removeIntegration(service: TestService, talk: Talk, id: string): Promise<IntegrationView> {
  return request(service, talk, 'DELETE', `/${id}`, 204);
}

async function request(
  service: TestService,
  talk: Talk,
  method: string,
  path: string,
  status: number,
  body?: Body,
): Promise<IntegrationView> {
  const options = { key: talk.key, ...(body && { body }) };
  const answer = await service.http<IntegrationView>(
    method,
    `/v1/agents/${talk.agentId}/tool-integrations${path}`,
    options,
  );
  if (answer.status !== status) throw new Error(`${method} integration: ${answer.status} ${answer.text}`);
  return answer.body;
}
