import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { answers, says, type ModelScript, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { type Listed, onceFree, type ReceivedEvent, ServiceClient } from './service-client.js';

const ENTRY = resolve('test/support/service-that-dies.mjs');
const QUESTION = 'Please pay';

interface Step {
  /** The step at which the process kills itself, a name of `service-that-dies.mjs`. */
  readonly at: string;
  /** The messages of the run after it has been ended. */
  readonly kept: 'the question' | 'an unknown call' | 'everything';
  readonly payments: 0 | 1;
}

const STEPS: readonly Step[] = [
  { at: 'the message is stored', kept: 'the question', payments: 0 },
  { at: 'the hooks are asked about the message', kept: 'the question', payments: 0 },
  { at: 'what the model is given is gathered', kept: 'the question', payments: 0 },
  { at: 'the tool calls are stored', kept: 'an unknown call', payments: 0 },
  { at: 'a tool is about to run', kept: 'an unknown call', payments: 0 },
  { at: 'a tool runs', kept: 'an unknown call', payments: 1 },
  { at: 'a tool has run', kept: 'an unknown call', payments: 1 },
  { at: 'the reply is complete', kept: 'an unknown call', payments: 1 },
  { at: 'the end is about to be stored', kept: 'an unknown call', payments: 1 },
  { at: 'the end is stored', kept: 'everything', payments: 1 },
];

const KEPT: Readonly<Record<Step['kept'], readonly object[]>> = {
  'the question': [{ role: 'user', content: QUESTION }],
  'an unknown call': [
    { role: 'user', content: QUESTION },
    { role: 'assistant', content: 'Paying.', status: 'incomplete', toolCalls: [{ status: 'unknown' }] },
  ],
  everything: [
    { role: 'user', content: QUESTION },
    { role: 'assistant', status: 'completed', toolCalls: [{ status: 'completed' }] },
  ],
};

const RUN = {
  completed: { status: 'completed', error: null },
  failed: { status: 'failed', error: { code: 'internal' } },
};

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let client: ServiceClient;
let key = '';

async function start(more: Readonly<Record<string, string>>): Promise<void> {
  service = await ServiceProcess.start({
    entry: ENTRY,
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables, ...more },
  });
  key ||= service.firstKey ?? '';
  client = new ServiceClient(service, key);
}

const payments = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;

/** A run in a process that dies during it. @returns the thread, and the events that arrived before */
async function runThatDies({ at }: Step, file: string): Promise<{ threadId: string; events: ReceivedEvent[] }> {
  await start({ DIE_AT: at, PAYMENTS: file });
  const { threadId } = await client.thread();
  models.reset();
  const script: ModelScript[] = [
    answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: {} }] }),
    says('Paid.'),
  ];
  models.next(...script);
  const events: ReceivedEvent[] = [];
  try {
    for await (const event of client.stream(threadId, QUESTION)) events.push(event);
  } catch {
    // The stream breaks, since its process is dead.
  }
  await service.ended();
  return { threadId, events };
}

/** Waits until the run of the dead process is ended. */
function nextTask(threadId: string): Promise<ReceivedEvent[]> {
  return onceFree(() => client.streamed(threadId, 'And now?'));
}

beforeAll(async () => {
  models = await ScriptedModels.start();
  environment = await modeEnvironment();
  data = await dataFolder();
});

afterAll(async () => {
  await service.kill();
  await models.close();
  await environment.close();
  data.remove();
});

describe('a process that is killed (SIGKILL) at a step of a run', () => {
  const turns: { step: Step; file: string; threadId: string; events: ReceivedEvent[] }[] = [];

  beforeAll(async () => {
    for (const [index, step] of STEPS.entries()) {
      const file = join(data.path, `payments-${index}`);
      turns.push({ step, file, ...(await runThatDies(step, file)) });
    }
    await start({ PAYMENTS: join(data.path, 'payments-after') });
    models.reset();
    models.always(says('Going on.'));
  }, 240_000);

  it.each(STEPS.map((step, index) => ({ ...step, index })))(
    'when $at: $kept kept, nothing repeated, the run ended, and the next message works',
    async ({ index, kept, payments: paid }) => {
      const { threadId, events, file } = turns[index]!;
      expect(payments(file)).toBe(paid);
      expect(events.some(({ type }) => type === 'RUN_FINISHED')).toBe(false);

      const next = await nextTask(threadId);
      expect(next.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
      const { messages } = await client.call<Listed>('GET', `/v1/threads/${threadId}/messages`);
      expect(messages).toMatchObject([
        ...KEPT[kept],
        { role: 'user', content: 'And now?' },
        { role: 'assistant', content: 'Going on.', status: 'completed' },
      ]);
      expect(messages).toHaveLength(KEPT[kept].length + 2);
      expect(payments(join(data.path, 'payments-after'))).toBe(0);
      const run = await client.call('GET', `/v1/threads/${threadId}/runs/${messages[0]?.runId ?? ''}`);
      expect(run).toMatchObject({ run: RUN[kept === 'everything' ? 'completed' : 'failed'] });
    },
    120_000,
  );
});
