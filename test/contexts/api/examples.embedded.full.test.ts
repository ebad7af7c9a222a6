import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EXAMPLE_IDS } from '../../../src/platform/http/index.js';
import type { OpenApi } from '../../support/documented-schemas.js';
import { until } from '../../support/harness.js';
import { ServiceProcess } from '../../support/service-process.js';
import { type NamedOperation, operationsOf } from './documented-interface.js';

/** Operations that need something that the demo lacks, as their descriptions state. */
const NEEDS_MORE: readonly string[] = [
  'GET /v1/oauth/mcp/callback',
  'GET /v1/oauth/drive/callback',
  'GET /v1/oauth/mcp/client-metadata',
  'POST /v1/agents/{agentId}/tool-integrations/{integrationId}/authorize',
  'POST /v1/integrations/drive/service-accounts',
  'DELETE /v1/integrations/drive/service-accounts/{id}',
  'PUT /v1/agents/{agentId}/knowledge-bases/drive',
  'GET /v1/agents/{agentId}/knowledge-bases/drive-service-account',
  'DELETE /v1/agents/{agentId}/knowledge-bases/drive-service-account',
  'POST /v1/agents/{agentId}/knowledge-bases/drive-oauth/authorize',
  'GET /v1/agents/{agentId}/knowledge-bases/drive-oauth',
  'DELETE /v1/agents/{agentId}/knowledge-bases/drive-oauth',
  'POST /v1/sessions/refresh',
  'GET /v1/files/{fileId}/content',
  'POST /v1/webhooks/{id}/deliveries/{deliveryId}/redeliver',
];
/** The examples do not depend on their order. Deletions are last, because they are most likely to break the others. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const folder = mkdtempSync(join(tmpdir(), 'examples-'));
let demo: ServiceProcess;
let operations: NamedOperation[];
beforeAll(async () => {
  demo = await ServiceProcess.start({ role: 'demo', environment: { DATA_DIR: folder } });
  operations = operationsOf((await (await ask('GET', '/v1/openapi.json')).json()) as OpenApi);
  // The resource that the demo creates last.
  const last = `/v1/agents/${EXAMPLE_IDS.spareAgent}/session-start-hook`;
  await until(async () => (await ask('GET', last)).ok, 'the demo makes what the examples name', {
    withinMs: 60_000,
    everyMs: 100,
  });
});
afterAll(async () => {
  await demo.kill();
  rmSync(folder, { recursive: true, force: true });
});

function ask(
  method: string,
  path: string,
  options: { readonly type?: string; readonly body?: string | FormData } = {},
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${demo.firstKey ?? ''}`,
    ...(options.type !== undefined && { 'content-type': options.type }),
  };
  return fetch(`${demo.url}${path}`, { method, headers, body: options.body ?? null });
}

/** Sends the request that “Try it out” of the page sends. */
function tryOut({ name, parameters = [], requestBody }: NamedOperation): Promise<Response> {
  const [method = '', template = ''] = name.split(' ');
  const exampleOf = (parameter: string): string => String(parameters.find((each) => each.name === parameter)?.example);
  const path = template.replace(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(exampleOf(parameter)));
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.example !== undefined);
  const search = new URLSearchParams(
    query.map((parameter): [string, string] => [parameter.name, String(parameter.example)]),
  );
  const url = search.size > 0 ? `${path}?${search.toString()}` : path;
  const content = requestBody?.content ?? {};
  if ('multipart/form-data' in content) {
    const form = new FormData();
    form.append('file', new Blob(['Bicycles are checked before they are sold.'], { type: 'text/plain' }), 'note.txt');
    return ask(method, url, { body: form });
  }
  const json = content['application/json'];
  if (!json) return ask(method, url);
  const [first] = Object.values(json.examples ?? {});
  return ask(method, url, { type: 'application/json', body: JSON.stringify(first ? first.value : json.example) });
}

it('the demo answers every operation of the document with a success, with unchanged examples', async () => {
  const rank = ({ name }: NamedOperation): number => ORDER.indexOf(name.split(' ')[0] ?? '');
  const refused: string[] = [];
  for (const operation of operations.toSorted((one, other) => rank(one) - rank(other))) {
    if (NEEDS_MORE.includes(operation.name)) continue;
    const answer = await tryOut(operation);
    const text = await answer.text();
    if (!answer.ok) refused.push(`${operation.name} ${answer.status} ${text.slice(0, 300)}`);
    // A stream has the status 200 before the run ends, so only its events show a failure.
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (isStream && text.includes('"RUN_ERROR"')) refused.push(`${operation.name} ${text.slice(-300)}`);
  }
  expect(refused).toEqual([]);
}, 240_000);

it('exactly the operations that need more than the demo has state what they need', () => {
  const needy = operations.filter(({ description = '' }) => / ?The demo refuses it: it needs .+\.$/.test(description));
  expect(needy.map(({ name }) => name).sort()).toEqual([...NEEDS_MORE].sort());
});
