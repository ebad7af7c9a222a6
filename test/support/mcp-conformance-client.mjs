// What the conformance suite of the protocol runs as "the client" for one scenario: the service, used through nothing but
// its REST API. The last argument is the address of the suite's server. SERVICE_URL, and SERVICE_KEY with every
// capability, say where the service is; its model calls the tool that a message `call <name> <arguments>` asks for.
import { randomUUID } from 'node:crypto';

const { SERVICE_URL, SERVICE_KEY, MCP_CONFORMANCE_SCENARIO = '' } = process.env;
const serverUrl = process.argv.at(-1);
const usesOAuth = MCP_CONFORMANCE_SCENARIO.startsWith('auth/');
/** Sign-ins after the first one, for servers that keep refusing. */
const FURTHER_SIGN_INS = 2;
/** Time limit of a request to the service, for servers that never answer a call. */
const REQUEST_MS = 10_000;

/** The arguments of tools that have parameters. */
const ARGUMENTS = { add_numbers: { a: 5, b: 3 } };

async function request(method, path, body) {
  const response = await fetch(`${SERVICE_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${SERVICE_KEY}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const text = await response.text();
  process.stdout.write(`${method} ${path} -> ${response.status} ${text.slice(0, 500)}\n`);
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return text === '' ? {} : JSON.parse(text);
}

/** Signs in like a user who grants every request. */
async function signIn(integration) {
  const { authorizationUrl } = await request('POST', `${integration}/authorize`, {
    redirectUrl: `${SERVICE_URL}/docs`,
  });
  const consent = await fetch(authorizationUrl, { redirect: 'manual' });
  const callback = consent.headers.get('location');
  if (callback === null) throw new Error(`The authorization server answered ${consent.status}`);
  const completed = await fetch(callback, { redirect: 'manual' });
  if (completed.status !== 302) throw new Error(`The callback answered ${completed.status}: ${await completed.text()}`);
}

/** @returns the names of the tools, as the server has them */
async function connect(integration) {
  const test = await request('POST', `${integration}/test`);
  if (!test.ok) throw new Error(`The server cannot be used: ${test.error}`);
  return (await request('GET', integration)).tools.map(({ name }) => name);
}

/** @returns whether the tool answered */
async function callTool(agentId, app, tool) {
  const { id } = await request('POST', '/v1/threads', { assistant_id: agentId });
  const content = `call mcp__${app}__${tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')} ${JSON.stringify(ARGUMENTS[tool] ?? {})}`;
  await request('POST', `/v1/threads/${id}/runs`, { message: { role: 'user', content }, onDisconnect: 'cancel' });
  const { messages } = await request('GET', `/v1/threads/${id}/messages`);
  const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls);
  process.stdout.write(`${JSON.stringify(calls)}\n`);
  return calls.length > 0 && calls.every(({ status }) => status === 'completed');
}

const app = `suite${randomUUID().slice(0, 8)}`;
const agent = await request('POST', '/v1/agents', { name: 'Suite', provider: { type: 'anthropic' } });
const { id } = await request('POST', `/v1/agents/${agent.id}/tool-integrations`, {
  type: 'custom-mcp',
  app,
  url: serverUrl,
  transportType: 'streamableHttp',
  auth: { type: usesOAuth ? 'oauth' : 'none' },
  httpHeaders: {},
  excludedTools: [],
});
const integration = `/v1/agents/${agent.id}/tool-integrations/${id}`;

let signInsLeft = usesOAuth ? FURTHER_SIGN_INS : 0;
if (usesOAuth) await signIn(integration);
for (;;) {
  try {
    const answered = [];
    for (const tool of await connect(integration)) answered.push(await callTool(agent.id, app, tool));
    if (answered.every(Boolean)) break;
    throw new Error('A tool did not answer');
  } catch (error) {
    if (signInsLeft === 0) throw error;
    signInsLeft -= 1;
    await signIn(integration);
  }
}
