import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { HookServer, LEFT_OPEN } from '../support/hook-server.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

let receiver: HookServer;
let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let key = '';
const started: ServiceProcess[] = [];
beforeAll(async () => {
  [receiver, models, environment, data] = await Promise.all([
    HookServer.start(),
    ScriptedModels.start(),
    modeEnvironment(),
    dataFolder(),
  ]);
});
afterAll(async () => {
  await Promise.all(started.map((service) => service.kill()));
  await Promise.all([receiver.close(), models.close(), environment.close()]);
  data.remove();
});

async function start(): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({
    environment: {
      ...{ DATA_DIR: data.path, EGRESS_ALLOW: receiver.host },
      ...models.environment,
      ...environment.variables,
    },
  });
  started.push(service);
  key ||= service.firstKey ?? '';
  return service;
}

/** A run whose end a new webhook at the path is to receive. @returns its id */
async function runFor(service: ServiceProcess, path: string): Promise<string | undefined> {
  const client = new ServiceClient(service, key);
  await client.call('POST', '/v1/webhooks', { url: receiver.url(path), events: ['run.completed'] });
  const { threadId } = await client.thread();
  models.next(says('Hello.'));
  const [begun] = await client.streamed(threadId, 'Hi');
  return begun?.runId;
}

const patience = { withinMs: 120_000, everyMs: 50 };

describe('a process that is killed', () => {
  it('during a run loses no event of it: the successor that ends the run delivers that it failed', async () => {
    const first = await start();
    const client = new ServiceClient(first, key);
    await client.call('POST', '/v1/webhooks', { url: receiver.url('/failed'), events: ['run.failed'] });
    const { threadId } = await client.thread();
    const held = new HeldReply(['Half']);
    models.next(held.script);
    const streaming = client.streamed(threadId, 'Hi').catch(() => []);
    await held.asked;
    await first.kill();
    await streaming;
    held.finish();
    await start();
    await until(() => receiver.of('/failed').length > 0, 'the event is delivered', patience);
    expect(receiver.of('/failed')).toHaveLength(1);
    expect(receiver.of('/failed')[0]?.input).toMatchObject({ type: 'run.failed', data: { thread_id: threadId } });
  });

  it('between the end of a run and its delivery loses nothing: its successor delivers it', async () => {
    await started.at(-1)?.kill();
    const first = await start();
    const runId = await runFor(first, '/between');
    await first.kill();
    expect(receiver.of('/between').length).toBeLessThanOrEqual(1);
    await start();
    await until(() => receiver.of('/between').length > 0, 'the event is delivered', patience);
    expect(receiver.of('/between').map(({ input }) => (input['data'] as { runId: string }).runId)).toContain(runId);
  });

  it('while the endpoint has the request repeats it under the same id', async () => {
    await started.at(-1)?.kill();
    const second = await start();
    receiver.url('/during', () => LEFT_OPEN);
    await runFor(second, '/during');
    await until(() => receiver.of('/during').length === 1, 'the request is under way', patience);
    await second.kill();
    receiver.url('/during', () => undefined);
    const third = await start();
    await until(() => receiver.of('/during').length === 2, 'the event is delivered again', patience);
    const [one, two] = receiver.of('/during');
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    const client = new ServiceClient(third, key);
    const { webhooks } = await client.call<{ webhooks: { id: string; url: string }[] }>('GET', '/v1/webhooks');
    const path = `/v1/webhooks/${webhooks.find(({ url }) => url.endsWith('/during'))?.id ?? ''}/deliveries`;
    await until(
      async () => {
        const { deliveries } = await client.call<{ deliveries: { status: string }[] }>('GET', path);
        return deliveries[0]?.status === 'delivered';
      },
      'the result is stored',
      patience,
    );
  });
});
