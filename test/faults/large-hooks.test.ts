import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '../../src/platform/config/index.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { RunningService } from '../support/harness.js';
import { operateOn } from '../support/operate-on.js';
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
  service = new RunningService(child.url, (line) => operateOn(settings, line));
  ({ key } = await service.organization());
  agentId = await service.agent(key);
  await service.http('POST', `/v1/agents/${agentId}/tool-integrations`, {
    key,
    body: {
      type: 'custom-mcp',
      app: 'tickets',
      url: 'https://tickets.example/mcp',
      transportType: 'streamableHttp',
      auth: { type: 'none' },
    },
  });
});

afterAll(async () => {
  await child.kill();
  await mode.close();
  data.remove();
});

type MakeHandler = (index: number) => object;

/** Distinguishes the documents, in their matchers. */
let documents = 0;

/** Eight groups of one handler for each event. */
function documentOf(matcher: string, handler: MakeHandler): string {
  const groups = (event: number): object[] =>
    Array.from({ length: 8 }, (_, n) => ({
      matcher: `${matcher}${event}${n}${documents % 10}`,
      hooks: [handler(8 * event + n)],
    }));
  return JSON.stringify({ hooks: Object.fromEntries(EVENTS.map((event, index) => [event, groups(index)])) });
}

const names = 'a|'.repeat(4_998);
const expression = `^(${'ab?c|'.repeat(150)}x)`;
/** So long that 40 handlers of 16 of them, with their matchers, are nearly as large as a body may be. */
const VALUE_LENGTH = 5_880;
const headers = (index: number): object => ({
  type: 'http',
  url: URL_OF_HOOK,
  headers: Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`X-${n}`, `${index}${'v'.repeat(VALUE_LENGTH)}`])),
});
const tool = (input: object): object => ({ type: 'mcp_tool', server: 'tickets', tool: 't', input });
const texts = (index: number): object =>
  tool({ index, list: Array(2).fill('x'.repeat(10_000)), rest: 'x'.repeat(4_900) });

/** The only input, nested everywhere. */
function nested(index: number): object {
  const deep = '{"x":'.repeat(50) + '{}' + '}'.repeat(50);
  return tool(index === 0 ? (JSON.parse(`{"list": [${Array(190).fill(deep).join()}]}`) as object) : {});
}

const BODIES: readonly (readonly [string, () => string])[] = [
  ['of 640 long headers and lists of names', () => documentOf(names, headers)],
  ['of values that are nested in each other', () => documentOf('', nested)],
  ['of nearly 1000000 characters of input', () => documentOf('', texts)],
  ['of 40 costly expressions', () => documentOf(expression, () => ({ type: 'http', url: URL_OF_HOOK }))],
];

describe('the largest documents', () => {
  const path = (): string => `/v1/agents/${agentId}/hooks`;
  const ask = async (method: string, body?: string): Promise<number> =>
    (await service.http(method, path(), { key, body })).status;

  it('are as large as a body may be', () => {
    const size = Buffer.byteLength(documentOf(names, headers));
    expect(size).toBeGreaterThan(0.97 * LIMIT);
    expect(size).toBeLessThanOrEqual(LIMIT);
  });

  it.each(BODIES)('%s do not delay other requests', async (_what, make) => {
    const costs: Record<string, object> = {};
    const watch = async (what: string, request: () => Promise<number>): Promise<void> => {
      const cost = await watchedCost(child, request);
      costs[what] = { ...cost, harmless: isHarmless(cost) };
    };
    // Each attempt has to store something: what is stored already costs less.
    const put = (): Promise<number> => {
      documents += 1;
      return ask('PUT', make());
    };
    await watch('put', put);
    await watch('get', () => ask('GET'));
    expect(costs).toMatchObject({ put: { harmless: true, result: 200 }, get: { harmless: true, result: 200 } });
  });

  it('do not delay other requests when they are removed', async () => {
    const putAndDelete = async (): Promise<number> => {
      documents += 1;
      await ask('PUT', documentOf(names, headers));
      return ask('DELETE');
    };
    const cost = await watchedCost(child, putAndDelete);
    expect({ ...cost, harmless: isHarmless(cost) }).toMatchObject({ harmless: true, result: 204 });
  });
});
