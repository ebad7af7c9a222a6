import { randomBytes } from 'node:crypto';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { DriveServer, keyFile } from '../../support/drive-server.js';
import {
  type Answer,
  type RunningService,
  type ServiceOptions,
  startService,
  type TestOrganization,
  type TestService,
  until,
} from '../../support/harness.js';
import { calls, type ModelScript } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { mintSession } from '../../support/web-sessions.js';

const drive = await DriveServer.start();

/** Ids of the resources of an organization, one of each kind. Add a new kind of resource here. */
export interface Ids {
  readonly agentId: string;
  readonly threadId: string;
  /** Of the reply. */
  readonly messageId: string;
  readonly runId: string;
  readonly traceId: string;
  readonly sectionId: string;
  readonly keyId: string;
  readonly fileId: string;
  readonly integrationId: string;
  readonly serviceAccountId: string;
  /** Of an uploaded file of the agent's knowledge. */
  readonly knowledgeFileId: string;
  readonly creditPeriodId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
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
  'serviceAccountId',
  'knowledgeFileId',
  'creditPeriodId',
  'webhookId',
  'deliveryId',
] as const satisfies readonly (keyof Ids)[];

/** An organization with a resource of every kind; each of its texts contains `canary`. */
export interface World extends Ids {
  readonly organization: TestOrganization;
  readonly key: string;
  readonly canary: string;
  /** The organization's second agent, without other resources. */
  readonly otherAgentId: string;
  /** Names that are no ids, and have a meaning only for this organization. */
  readonly idempotencyKey: string;
  readonly cursor: string;
  /** The pass of a web session on the thread. */
  readonly pass: string;
  readonly resumeToken: string;
  /** In the drive, which all organizations use. */
  readonly driveFileId: string;
  readonly fileExpires: string;
  readonly fileSignature: string;
}

/** The wall clock, which tests can move forward, so that windows of limits and keys end without waiting. */
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

/** Settings of a service on which a world can be created. */
export const WORLD_ENVIRONMENT: Readonly<Record<string, string>> = {
  ...drive.environmentWithClient,
  // Tests move the clock from window to window.
  SESSION_PASS_SECONDS: '8640000',
  SESSION_RESUME_SECONDS_WITH_END_USER: '8640000',
};

/** A service whose models repeat their input, so that a text of another tenant is visible. */
export async function startTenants(
  options: ServiceOptions = {},
): Promise<{ service: TestService; clock: SkippingClock }> {
  const clock = new SkippingClock();
  const service = await startService({
    ...options,
    clock,
    environment: { ...WORLD_ENVIRONMENT, ...options.environment },
  });
  service.models.always(echo);
  return { service, clock };
}

const CANARY = /canary-[0-9a-f]{16}/;

/** Saves a memory of the user of the run, then repeats the input. */
const echo: ModelScript = (exchange, wire) => {
  const [canary = 'nobody'] = CANARY.exec(JSON.stringify(exchange.request.body)) ?? [];
  const { body } = exchange.request;
  const remembers = sentToolNames(body).includes('memory_save') && wire.toolResults(body).length === 0;
  if (remembers) return calls('memory_save', { text: `${canary} is what the user likes` })(exchange, wire);
  return exchange.sendAll(
    wire.text([`${canary} one\n`, `${canary} two\n`, `${canary} three`], { input: 3, output: 3 }),
  );
};

/** Creates everything that a route can return, through the interface. */
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
  // Starts the background work first, and waits for it at the end.
  await startWebsite(service, key, agentId, canary);
  const driveIds = await startDrive(service, key, agentId, canary);
  const knowledgeFile = await postFile(
    service,
    key,
    `/v1/agents/${agentId}/knowledge-bases/uploaded-files`,
    `${canary}.txt`,
    canary,
  );
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
  // A second thread, so that a page of one thread has a next page.
  await post('POST', '/v1/threads', { assistant_id: agentId });
  // Before the run, whose end it is to receive; nothing answers at its address.
  const webhook = await post<{ id: string }>('POST', '/v1/webhooks', {
    url: `https://${canary}.invalid/events`,
    events: ['run.completed'],
    description: canary,
  });
  const idempotencyKey = `request-of-${canary}`;
  const result = await post<{ run: { id: string }; message: { id: string } }>(
    'POST',
    `/v1/threads/${thread.id}/runs`,
    questionOf(canary),
    { 'idempotency-key': idempotencyKey },
  );
  const runId = result.run.id;
  const page = await service.http<{ nextCursor: string }>('GET', '/v1/threads?limit=1', { key });
  const integration = await post<{ id: string }>('POST', `/v1/agents/${agentId}/tool-integrations`, serverOf(canary));
  await post('PUT', `/v1/agents/${agentId}/hooks`, { hooks: hooksOf(canary) });
  await post('PUT', `/v1/agents/${agentId}/session-start-hook`, sessionStartHookOf(canary));
  await post('POST', `/v1/agents/${agentId}/hooks/secret`, {});
  const { body: credits } = await service.http<{ periods: { id: string }[] }>('GET', '/v1/credits/usage/periods', {
    key,
  });
  const { body: owed } = await service.http<{ deliveries: { id: string }[] }>(
    'GET',
    `/v1/webhooks/${webhook.id}/deliveries`,
    { key },
  );
  const minted = await mintSession(service, key, { assistant_id: agentId, endUser: VISITOR, thread_id: thread.id });
  const file = await uploadFile(service, key, `${canary}.txt`, canary);
  await backgroundWork(service, key, agentId, runId);
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
    ...driveIds,
    knowledgeFileId: knowledgeFile.id,
    creditPeriodId: credits.periods[0]?.id ?? '',
    webhookId: webhook.id,
    deliveryId: owed.deliveries[0]?.id ?? '',
    idempotencyKey,
    cursor: page.body.nextCursor,
    pass: minted.pass.token,
    resumeToken: minted.resumeToken.token,
    ...file,
  };
}

/** The only tool server of an organization; no test connects to its address. */
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

/** The hooks of the only agent with hooks; no server answers them. @param secret of the header; by default the organization's own */
export function hooksOf(canary: string, secret = `${canary}-header`): Readonly<Record<string, readonly object[]>> {
  const url = `https://127.0.0.1:9/${canary}`;
  const tool = {
    type: 'mcp_tool',
    server: `${canary} tools`,
    tool: canary,
    input: { note: canary, path: '${tool_input.path}' },
  };
  return {
    UserPromptSubmit: [{ hooks: [{ type: 'http', url, headers: { 'X-Key': secret }, timeout: 2, failClosed: false }] }],
    PreToolUse: [{ matcher: `${canary}.*`, hooks: [tool] }],
  };
}

/** Its tool is one of `serverOf`. */
export function sessionStartHookOf(canary: string): Readonly<Record<string, unknown>> {
  return { app: `${canary} tools`, toolName: canary, timeoutMs: 1_000, staticArgs: { note: canary } };
}

/** The user of the runs, the same in every organization. */
export const VISITOR = 'visitor';

/** The body of the only run of an organization. */
export function questionOf(canary: string): Readonly<Record<string, unknown>> {
  return {
    message: { role: 'user', content: `${canary} question` },
    config: { userContext: { note: canary, userId: VISITOR } },
  };
}

/** The only website of an organization; its host is not public, so no request reaches it. */
export function websiteOf(canary: string): Readonly<Record<string, unknown>> {
  return { rootUrl: `http://127.0.0.1:9/${canary}/`, excludedUrls: [`http://127.0.0.1:9/${canary}/private`] };
}

/** Waits for the trace of the run, and until the agent's knowledge is processed. Each poll delays that work. */
async function backgroundWork(service: RunningService, key: string, agentId: string, runId: string): Promise<void> {
  const bases = `/v1/agents/${agentId}/knowledge-bases`;
  const ends = async <Body>(path: string, hasEnded: (answer: Answer<Body>) => boolean): Promise<void> => {
    await until(async () => hasEnded(await service.http<Body>('GET', path, { key })), path, { everyMs: 20 });
  };
  await ends(`/v1/agents/${agentId}/traces/${runId}`, ({ status }) => status === 200);
  await ends<{ sync: { state: string } }>(`${bases}/website`, ({ body }) => body.sync.state !== 'IN_PROGRESS');
  for (const source of ['drive-service-account', 'drive-oauth']) {
    await ends<{ sync?: { state: string } }>(`${bases}/${source}`, ({ body }) => body.sync?.state === 'SUCCESS');
  }
  await ends<{ files: { status: string }[] }>(`${bases}/uploaded-files`, ({ body }) =>
    body.files.every(({ status }) => status === 'ready'),
  );
}

async function startWebsite(service: RunningService, key: string, agentId: string, canary: string): Promise<void> {
  const path = `/v1/agents/${agentId}/knowledge-bases/website`;
  expectSuccess(await service.http('PUT', path, { key, body: { configs: [websiteOf(canary)] } }), `PUT ${path}`);
}

/** The agent's knowledge in the drive, through a service account and through a sign-in. */
async function startDrive(
  service: RunningService,
  key: string,
  agentId: string,
  canary: string,
): Promise<Pick<World, 'serviceAccountId' | 'driveFileId'>> {
  const driveFileId = drive.text(`${canary}.txt`, canary);
  const bases = `/v1/agents/${agentId}/knowledge-bases`;
  const send = async <Body>(method: string, path: string, body: object): Promise<Body> =>
    expectSuccess(await service.http<Body>(method, path, { key, body }), `${method} ${path}`).body;
  const keyFileContent = keyFile({ client_email: `${canary}@project.example`, project_id: canary });
  const account = await send<{ id: string }>('POST', '/v1/integrations/drive/service-accounts', { keyFileContent });
  await send('PUT', `${bases}/drive`, { integrationId: account.id, fileIds: [driveFileId] });
  const signIn = { fileIds: [driveFileId], redirectUrl: `https://app.example/${canary}` };
  const { authorizationUrl } = await send<{ authorizationUrl: string }>(
    'POST',
    `${bases}/drive-oauth/authorize`,
    signIn,
  );
  await fetch(drive.consent(authorizationUrl), { redirect: 'manual' });
  return { serviceAccountId: account.id, driveFileId };
}

async function uploadFile(
  service: RunningService,
  key: string,
  name: string,
  content: string,
): Promise<Pick<World, 'fileId' | 'fileExpires' | 'fileSignature'>> {
  const { id, url } = await postFile(service, key, '/v1/files/upload', name, content);
  const { searchParams } = new URL(url);
  return {
    fileId: id,
    fileExpires: searchParams.get('expires') ?? '',
    fileSignature: searchParams.get('signature') ?? '',
  };
}

async function postFile(
  service: RunningService,
  key: string,
  path: string,
  name: string,
  content: string,
): Promise<{ id: string; url: string }> {
  const form = new FormData();
  form.set('file', new File([content], name, { type: 'text/plain' }));
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  if (!response.ok) throw new Error(`upload: ${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string; url: string };
}

function expectSuccess<Body>(answer: Answer<Body>, what: string): Answer<Body> {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text}`);
  return answer;
}
