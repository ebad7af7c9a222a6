import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { OtlpReceiver } from '../support/otlp-receiver.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

let backend: OtlpReceiver;
let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
const started: ServiceProcess[] = [];
beforeAll(async () => {
  [backend, models, environment, data] = await Promise.all([
    OtlpReceiver.start(),
    ScriptedModels.start(),
    modeEnvironment(),
    dataFolder(),
  ]);
});
afterAll(async () => {
  await Promise.all(started.map((service) => service.kill()));
  await Promise.all([backend.close(), models.close(), environment.close()]);
  data.remove();
});

async function start(): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({
    entry: resolve('test/support/service-that-pushes.mjs'),
    environment: {
      ...{ DATA_DIR: data.path, OTEL_EXPORTER_OTLP_ENDPOINT: backend.url, EGRESS_ALLOW: new URL(backend.url).host },
      ...models.environment,
      ...environment.variables,
    },
  });
  started.push(service);
  return service;
}

describe('a process that is killed in the middle of a push', () => {
  it('loses nothing: its successor pushes each trace', async () => {
    const first = await start();
    const client = new ServiceClient(first, first.firstKey ?? '');
    const { threadId } = await client.thread();
    const runIds: string[] = [];
    for (const question of ['one', 'two']) {
      models.next(says('Hello.'));
      const [begun] = await client.streamed(threadId, question);
      runIds.push(begun?.runId ?? '');
    }
    backend.next(async () => first.kill());
    expect(await first.ask('publish')).toBe(2);
    await until(() => first.exited, 'the process to be killed in the middle of the push');
    expect(backend.accepted).toEqual([]);

    await start();
    await until(() => backend.accepted.length > 0, 'the traces are pushed', { withinMs: 120_000, everyMs: 50 });
    expect(runIds.map((runId) => new Set(backend.traceSpans(runId).map(({ spanId }) => spanId)).size)).toEqual([2, 2]);
  });
});
