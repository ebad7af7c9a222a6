import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { until } from '../support/harness.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { type ReceivedEvent, ServiceClient } from './service-client.js';

// Each test starts processes.
let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let key = '';

function start(more: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables, ...more },
  });
}

beforeAll(async () => {
  models = await ScriptedModels.start();
  environment = await modeEnvironment();
  data = await dataFolder();
});
beforeEach(() => {
  models.reset();
});
afterEach(() => service.kill());
afterAll(async () => {
  await models.close();
  await environment.close();
  data.remove();
});

describe('a service that gets SIGTERM', () => {
  it('completes a run under way and its stream, refuses new ones, and exits with 0', async () => {
    service = await start();
    key = service.firstKey ?? '';
    const client = new ServiceClient(service, key);
    const [first, second] = [await client.thread(), await client.thread()];
    const held = new HeldReply(['Half'], [' and half']);
    models.next(held.script);
    const events: ReceivedEvent[] = [];
    for await (const event of client.stream(first.threadId, 'Hi')) {
      events.push(event);
      if (event.type !== 'TEXT_MESSAGE_CONTENT' || events.some(({ type }) => type === 'stopping')) continue;
      events.push({ type: 'stopping' });
      service.signal('SIGTERM');
      await until(() => refused(() => client.call('GET', '/health/ready')), 'the signal has arrived');
      expect(await refused(() => client.stream(second.threadId, 'New').next())).toBe(true);
      held.finish();
    }

    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { message: { content: 'Half and half' } } });
    expect(await service.ended()).toBe(0);
    service = await start();
    const again = new ServiceClient(service, key);
    expect((await again.messages(first.threadId)).map(({ content }) => content)).toEqual(['Hi', 'Half and half']);
    expect(await again.messages(second.threadId)).toEqual([]);
  });

  it('ends a run that takes too long with RUN_ERROR server_shutdown, stores its text, and exits with 0', async () => {
    service = await start({ SHUTDOWN_SECONDS: '1' });
    const client = new ServiceClient(service, key);
    const { agentId, threadId } = await client.thread();
    const held = new HeldReply(['Half']);
    models.next(held.script);
    const events: ReceivedEvent[] = [];
    for await (const event of client.stream(threadId, 'Hi')) {
      events.push(event);
      if (event.type === 'TEXT_MESSAGE_CONTENT') service.signal('SIGTERM');
    }

    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'server_shutdown' });
    await (
      await held.asked
    ).disconnected;
    held.finish();
    expect(await service.ended()).toBe(0);
    service = await start();
    const again = new ServiceClient(service, key);
    expect(await again.messages(threadId)).toMatchObject([
      { role: 'user', content: 'Hi', status: 'completed' },
      { role: 'assistant', content: 'Half', status: 'incomplete' },
    ]);
    const { traces } = await again.call<{ traces: object[] }>('GET', `/v1/agents/${agentId}/traces`);
    expect(traces).toMatchObject([{ status: 'failed' }]);
    models.next(says('Back'));
    expect((await again.streamed(threadId, 'Again')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
  });

  it('serves new runs on new connections during the delay, is not ready, and exits at once at a second signal', async () => {
    service = await start({ SHUTDOWN_DELAY_SECONDS: '24' });
    const client = new ServiceClient(service, key);
    const { threadId } = await client.thread();
    models.next(says('Still here'));
    service.signal('SIGTERM');
    await until(async () => (await client.fetch('GET', '/health/ready')).status === 503, 'it says that it stops');
    expect((await client.streamed(threadId, 'Hi')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
    service.signal('SIGTERM');
    expect(await service.ended()).toBe(1);
  });

  it('exits with 0 at once when it has nothing to do', async () => {
    service = await start();
    service.signal('SIGTERM');
    expect(await service.ended()).toBe(0);
  });
});

async function refused(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt();
    return false;
  } catch {
    return true;
  }
}
