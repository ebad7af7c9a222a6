import { randomBytes } from 'node:crypto';
import { SystemClock } from '../../../src/platform/clock/index.js';
import {
  type Answer,
  type RunningService,
  type ServiceOptions,
  startService,
  type TestOrganization,
  type TestService,
  until,
} from '../../support/harness.js';
import type { ModelScript } from '../../support/scripted-models.js';

/** Ids of what an organization has, one of each kind. A new kind of resource adds its id here. */
export interface Ids {
  readonly agentId: string;
  readonly threadId: string;
  /** The assistant's. */
  readonly messageId: string;
  readonly runId: string;
  readonly traceId: string;
  readonly sectionId: string;
  readonly keyId: string;
  readonly fileId: string;
  readonly integrationId: string;
}

export const ID_NAMES = [
  'agentId',
  'threadId',
  'messageId',
  'runId',
  'traceId',
  'sectionId',
  'keyId',
  'fileId',
  'integrationId',
] as const satisfies readonly (keyof Ids)[];

/** An organization with something of every kind in it; every text of it holds `canary`. */
export interface World extends Ids {
  readonly organization: TestOrganization;
  readonly key: string;
  readonly canary: string;
  /** The organization's second agent, of which nothing else is. */
  readonly otherAgentId: string;
  /** What only means something to the organization it was given to, and is no id. */
  readonly idempotencyKey: string;
  readonly cursor: string;
  readonly fileExpires: string;
  readonly fileSignature: string;
}

/** The wall's time, which can be moved on: windows of limits and lives of keys end without waiting. */
export class SkippingClock extends SystemClock {
  private skipped = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.skipped);
  }

  override monotonic(): number {
    return super.monotonic() + this.skipped;
  }

  skip(ms: number): void {
    this.skipped += ms;
  }
}

/** A service whose models say what they were told, so that a text that crosses tenants is seen. */
export async function startTenants(
  options: ServiceOptions = {},
): Promise<{ service: TestService; clock: SkippingClock }> {
  const clock = new SkippingClock();
  const service = await startService({ ...options, clock });
  service.models.always(echo);
  return { service, clock };
}

const CANARY = /canary-[0-9a-f]{16}/;

const echo: ModelScript = (exchange, wire) => {
  const [canary = 'nobody'] = CANARY.exec(JSON.stringify(exchange.request.body)) ?? [];
  return exchange.sendAll(
    wire.text([`${canary} one\n`, `${canary} two\n`, `${canary} three`], { input: 3, output: 3 }),
  );
};

/** Everything that a route can be asked for, made through the interface. */
export async function createWorld(service: RunningService): Promise<World> {
  const organization = await service.organization('--plan', 'enterprise', '--features', 'knowledge_search');
  const canary = `canary-${randomBytes(8).toString('hex')}`;
  const { key } = organization;
  const post = async <Body>(method: string, path: string, body: object, headers = {}): Promise<Body> => {
    const answer = await service.http<Body>(method, path, { key, body, headers });
    return expectSuccess(answer, `${method} ${path}`).body;
  };
  const agentId = await service.agent(key, {
    name: `${canary} agent`,
    systemPrompt: `${canary} prompt`,
    provider: { type: 'anthropic', useOwnApiKey: true, apiKey: `${canary}-key` },
    // The organization's gateway is on the public internet.
    aiGateway: { enabled: false },
  });
  const otherAgentId = await service.agent(key, { name: 'Other', provider: { type: 'gemini' } });
  const section = await post<{ id: string }>('POST', `/v1/agents/${agentId}/sections`, {
    name: 'Tone',
    content: canary,
  });
  await post('PUT', '/v1/ai-gateway', { enabled: true, edgeAccountId: canary, gatewayName: 'g', edgeApiToken: canary });
  const issued = await post<{ id: string }>('POST', '/v1/api-keys', { name: canary, capabilities: ['chat'] });
  const thread = await post<{ id: string }>('POST', '/v1/threads', {
    assistant_id: agentId,
    metadata: { note: canary },
  });
  // A second thread, so that a list of one thread has a page after it.
  await post('POST', '/v1/threads', { assistant_id: agentId });
  const idempotencyKey = `request-of-${canary}`;
  const result = await post<{ run: { id: string }; message: { id: string } }>(
    'POST',
    `/v1/threads/${thread.id}/runs`,
    questionOf(canary),
    { 'idempotency-key': idempotencyKey },
  );
  const runId = result.run.id;
  await until(
    async () => (await service.http('GET', `/v1/agents/${agentId}/traces/${runId}`, { key })).status === 200,
    'trace',
  );
  const page = await service.http<{ nextCursor: string }>('GET', '/v1/threads?limit=1', { key });
  const integration = await post<{ id: string }>('POST', `/v1/agents/${agentId}/tool-integrations`, serverOf(canary));
  const file = await uploadFile(service, key, `${canary}.txt`, canary);
  return {
    organization,
    key,
    canary,
    agentId,
    otherAgentId,
    threadId: thread.id,
    messageId: result.message.id,
    runId,
    traceId: runId,
    sectionId: section.id,
    keyId: issued.id,
    integrationId: integration.id,
    idempotencyKey,
    cursor: page.body.nextCursor,
    ...file,
  };
}

/** The one tool server that an organization has; nobody connects to its address. */
export function serverOf(canary: string): Readonly<Record<string, unknown>> {
  return {
    type: 'custom-mcp',
    app: `${canary} tools`,
    url: `http://127.0.0.1:9/${canary}`,
    transportType: 'streamableHttp',
    auth: { type: 'static', headerKey: 'X-Key' },
    httpHeaders: {
      'X-Key': { type: 'secret', value: `${canary}-key` },
      'X-Team': { type: 'plain_text', value: canary },
    },
    excludedTools: [canary],
  };
}

/** The body of the one run that an organization has. */
export function questionOf(canary: string): Readonly<Record<string, unknown>> {
  return { message: { role: 'user', content: `${canary} question` }, config: { userContext: { note: canary } } };
}

async function uploadFile(
  service: RunningService,
  key: string,
  name: string,
  content: string,
): Promise<Pick<World, 'fileId' | 'fileExpires' | 'fileSignature'>> {
  const form = new FormData();
  form.set('file', new File([content], name, { type: 'text/plain' }));
  const response = await fetch(`${service.baseUrl}/v1/files/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  if (response.status !== 200) throw new Error(`upload: ${response.status} ${await response.text()}`);
  const { id, url } = (await response.json()) as { id: string; url: string };
  const { searchParams } = new URL(url);
  return {
    fileId: id,
    fileExpires: searchParams.get('expires') ?? '',
    fileSignature: searchParams.get('signature') ?? '',
  };
}

function expectSuccess<Body>(answer: Answer<Body>, what: string): Answer<Body> {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`);
  return answer;
}
