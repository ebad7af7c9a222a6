import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientTool, resultOf } from '../support/client-tools.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { anthropicWire } from '../support/provider-wire.js';
import { answers, HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import type { RunResult } from '../support/talk.js';
import { onceFree, ServiceClient } from './service-client.js';

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let client: ServiceClient;
let key = '';

async function start(): Promise<void> {
  service = await ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables },
  });
  key ||= service.firstKey ?? '';
  client = new ServiceClient(service, key);
}

beforeAll(async () => {
  models = await ScriptedModels.start();
  environment = await modeEnvironment();
  data = await dataFolder();
  await start();
});

afterAll(async () => {
  await service.kill();
  await models.close();
  await environment.close();
  data.remove();
});

describe('a process that is killed between the call of a caller’s tool and the reply to its result', () => {
  it('loses neither the call nor the result: the next run has both', async () => {
    const { threadId } = await client.thread();
    const runs = `/v1/threads/${threadId}/runs`;
    const tools = [clientTool('weather')];
    models.next(answers({ calls: [{ id: 'w1', name: 'weather', input: { city: 'Oslo' } }] }));
    const question = { message: { role: 'user', content: 'Weather?' }, tools };
    const asked = await client.call<RunResult>('POST', runs, question);
    await service.kill();
    await start();

    const { interrupts } = await client.call<RunResult>('GET', `${runs}/${asked.run.id}`);
    expect(interrupts).toEqual(asked.interrupts);
    const held = new HeldReply(['It']);
    models.next(held.script);
    const resume = { resume: [resultOf(interrupts[0]!, 'rain')] };
    const resumed = client.call<RunResult>('POST', runs, resume).catch((error: unknown) => error);
    await held.asked;
    await service.kill();
    await resumed;
    await start();

    models.reset();
    models.next(says('As the tool said.'));
    const next = await onceFree(() => client.call<RunResult>('POST', runs, { ...question, message: said('And?') }));

    expect(next).toMatchObject({ run: { status: 'completed' } });
    expect(anthropicWire.toolResults(models.requests.at(-1)?.body ?? {})).toMatchObject([
      { id: 'w1', output: 'rain', isError: false },
    ]);
    const again = await client.fetch('POST', runs, resume);
    expect(again.status).toBe(400);
    const [, call] = await client.messages(threadId);
    expect(call?.toolCalls).toMatchObject([{ id: 'w1', status: 'completed' }]);
  }, 240_000);
});

function said(content: string): object {
  return { role: 'user', content };
}
