import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { HookServer, LEFT_OPEN } from '../support/hook-server.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { calls, type ModelScript, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { ToolServer } from '../support/tool-server.js';
import { onceFree, ServiceClient } from './service-client.js';
import { sentSystem } from '../support/sent-system.js';

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const;
type Event = (typeof EVENTS)[number];

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let hooks: HookServer;
let tools: ToolServer;
let service: ServiceProcess;
let client: ServiceClient;
let key = '';

/** The event in which each thread's process dies. */
const fatal = new Map<unknown, Event>();
const waiting = new Set<unknown>();

/** Kills the process once every thread is at its event. */
function waitForTheEnd(threadId: unknown): typeof LEFT_OPEN {
  waiting.add(threadId);
  if (waiting.size === EVENTS.length) void service.kill();
  return LEFT_OPEN;
}

async function start(): Promise<void> {
  const allowed = { EGRESS_ALLOW: `${hooks.host},${tools.host}` };
  service = await ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables, ...allowed },
  });
  key ||= service.firstKey ?? '';
  client = new ServiceClient(service, key);
}

beforeAll(async () => {
  [models, environment, data, hooks] = await Promise.all([
    ScriptedModels.start(),
    modeEnvironment(),
    dataFolder(),
    HookServer.start(),
  ]);
  tools = await ToolServer.start('streamableHttp', { name: 'pay' });
  await start();
});

afterAll(async () => {
  await service.kill();
  await Promise.all([models.close(), environment.close(), hooks.close(), tools.close()]);
  data.remove();
});

/** An agent with a hook on the endpoint for every event, and a thread. */
async function guardedThread(): Promise<string> {
  const { agentId, threadId } = await client.thread();
  const server = {
    type: 'custom-mcp',
    app: 'Bank',
    url: tools.url,
    transportType: tools.transportType,
    auth: { type: 'none' },
  };
  await client.call('POST', `/v1/agents/${agentId}/tool-integrations`, server);
  const url = hooks.url('/hook', ({ input }) => {
    const { session_id: thread, hook_event_name: event } = input;
    return fatal.get(thread) === event ? waitForTheEnd(thread) : { additionalContext: `At ${String(event)}.` };
  });
  const groups = [{ hooks: [{ type: 'http', url, timeout: 10 }] }];
  await client.call('PUT', `/v1/agents/${agentId}/hooks`, {
    hooks: Object.fromEntries(EVENTS.map((event) => [event, groups])),
  });
  return threadId;
}

const asked = (threadId: string): unknown[] =>
  hooks.received.filter(({ input }) => input['session_id'] === threadId).map(({ input }) => input['hook_event_name']);

/** A model that pays once in an exchange, and then says so. */
const paysOnce: ModelScript = (exchange, wire) =>
  (wire.toolResults(exchange.request.body).length === 0 ? calls('mcp__bank__pay') : says('Paid.'))(exchange, wire);

describe('a process that is killed (SIGKILL) during hooks', () => {
  const threads = new Map<Event, string>();

  beforeAll(async () => {
    for (const event of EVENTS) threads.set(event, await guardedThread());
    for (const [event, threadId] of threads) fatal.set(threadId, event);
    models.always(paysOnce);
    const broken = [...threads.values()].map((threadId) => client.streamed(threadId, 'Pay').catch(() => undefined));
    await Promise.all([...broken, service.ended()]);
    fatal.clear();
    await start();
    models.reset();
    models.always(says('Going on.'));
  });

  it.each(EVENTS)(
    'at %s: the run is ended, the thread begins once, no call is made twice, and the next message works',
    async (event) => {
      const threadId = threads.get(event) ?? '';
      const question = `And now, after ${event}?`;

      const events = await onceFree(() => client.streamed(threadId, question));

      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
      expect(asked(threadId).filter((name) => name === 'SessionStart')).toHaveLength(1);
      const [first] = await client.messages(threadId);
      expect(await client.call('GET', `/v1/threads/${threadId}/runs/${first?.runId ?? ''}`)).toMatchObject({
        run: { status: 'failed' },
      });
      const { body } = models.requests.find((request) => JSON.stringify(request.body).includes(question)) ?? {};
      // Earlier responses of the endpoint keep their effect; the interrupted event has none.
      expect(sentSystem(body ?? {})).toBe(event === 'SessionStart' ? '' : 'At SessionStart.');
      const isKept = event !== 'SessionStart' && event !== 'UserPromptSubmit';
      expect(JSON.stringify(body?.['messages'])).toContain(isKept ? 'Pay\\n\\nAt UserPromptSubmit.' : '"Pay');
    },
    120_000,
  );

  it('has made only the calls before it, once', () => {
    expect(tools.calls).toHaveLength(2);
  });
});
