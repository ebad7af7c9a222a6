import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/platform/config/index.js';
import { schemas, operatorCommands } from '../../src/app.module.js';
import { SystemClock } from '../../src/platform/clock/index.js';
import { EventBus } from '../../src/platform/events/index.js';
import { runOperatorLine } from '../../src/platform/operator/index.js';
import { MasterKeys, RotateSecrets } from '../../src/platform/vault/index.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { RunningService } from '../support/harness.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import type { ServiceProcess } from '../support/service-process.js';
import { isHarmless, startWatched, watchedCost } from '../support/watched-cost.js';

const LIMIT = 4 * 1024 * 1024;
const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
const URL_OF_HOOK = 'https://hooks.example/in';

let mode: ModeEnvironment;
let data: DataFolder;
let child: ServiceProcess;
let service: RunningService;
let key: string;
let agentId: string;

beforeAll(async () => {
  [mode, data] = [await modeEnvironment(), await dataFolder()];
  const environment = { DATA_DIR: data.path, ...mode.variables };
  child = await startWatched(environment);
  const settings = readSettings(environment, { role: 'all', demo: false });
  const clock = new SystemClock();
  const commands = (open: Parameters<Parameters<typeof runOperatorLine>[0]['commands']>[0]) =>
    operatorCommands({ open, clock, events: new EventBus(), rotateSecrets: () => new RotateSecrets(open.database, MasterKeys.load(settings)) });
  service = new RunningService(child.url, async (line) => {
    const answer = await runOperatorLine({ settings, schemas, clock, commands }, line);
    if (!answer.ok) throw new Error(answer.message);
    return answer.result;
  });
  ({ key } = await service.organization());
  agentId = await service.agent(key);
  await service.http('POST', `/v1/agents/${agentId}/tool-integrations`, {
    key,
    body: { type: 'custom-mcp', app: 'tickets', url: 'https://tickets.example/mcp', transportType: 'streamableHttp', auth: { type: 'none' } },
  });
}, 60_000);

afterAll(async () => {
  await child.kill();
  await mode.close();
  data.remove();
});

type MakeHandler = (index: number) => object;

/** Tells one document from the next, in their matchers. */
let documents = 0;

/** Eight groups of one handler for each event. */
function documentOf(matcher: string, handler: MakeHandler): string {
  const groups = (event: number): object[] => Array.from({ length: 8 }, (_, n) => ({ matcher: `${matcher}${event}${n}${documents % 10}`, hooks: [handler(8 * event + n)] }));
  return JSON.stringify({ hooks: Object.fromEntries(EVENTS.map((event, index) => [event, groups(index)])) });
}

/** As `documentOf`, with handlers whose texts grow until the body is as large as it may be. */
function largest(matcher: string, handler: (index: number, length: number) => object): string {
  let [fits, over] = [0, 10_001];
  while (over - fits > 1) {
    const length = Math.floor((fits + over) / 2);
    if (Buffer.byteLength(documentOf(matcher, (index) => handler(index, length))) <= LIMIT) fits = length;
    else over = length;
  }
  return documentOf(matcher, (index) => handler(index, fits));
}

const names = 'a|'.repeat(4_998);
const expression = `^(${'ab?c|'.repeat(150)}x)`;
const headers = (index: number, length: number): object => ({
  type: 'http',
  url: URL_OF_HOOK,
  headers: Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`X-${n}`, `${index}${'v'.repeat(length)}`])),
});
const values = (index: number): object => ({ type: 'mcp_tool', server: 'tickets', tool: 't', input: { index, list: Array(4_900).fill({}) } });

const BODIES: readonly (readonly [string, () => string])[] = [
  ['of 640 long headers and lists of names', () => largest(names, headers)],
  ['of nearly 200000 values', () => documentOf('', values)],
  ['of 40 costly expressions', () => documentOf(expression, () => ({ type: 'http', url: URL_OF_HOOK }))],
];

describe('the largest documents', () => {
  const path = (): string => `/v1/agents/${agentId}/hooks`;
  const ask = async (method: string, body?: string): Promise<number> => (await service.http(method, path(), { key, body })).status;

  it.each(BODIES)('%s keep nobody waiting', async (_what, make) => {
    // Each attempt has to store something: what is stored already costs less.
    const bodies = Array.from({ length: 4 }, () => {
      documents += 1;
      return make();
    });
    const costs: Record<string, object> = {};
    const watch = async (what: string, request: () => Promise<number>): Promise<void> => {
      const cost = await watchedCost(child, request);
      costs[what] = { ...cost, harmless: isHarmless(cost) };
    };
    let puts = 0;
    const put = (): Promise<number> => ask('PUT', bodies[puts++ % bodies.length]);
    await watch('put', put);
    await watch('get', () => ask('GET'));
    await watch('put and delete', async () => Math.max(await put(), await ask('DELETE')));
    expect(costs).toMatchObject({
      put: { harmless: true, result: 200 },
      get: { harmless: true, result: 200 },
      'put and delete': { harmless: true, result: 204 },
    });
  });
});
