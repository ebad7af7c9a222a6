import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

const THREADS = 64;
const RUNS_OF_A_STEP = 320;
const STEPS = 5;
/** Requests of one agent in a minute are limited to 600. */
const AGENTS = 8;
const AT_ONCE = 8;
const PROBE = pathToFileURL(resolve('test/support/heap-probe.mjs')).href;
/** The two messages and the events of a run take some 3,200; a run that stays registered takes 1,600 more. */
const KEPT_BYTES_A_RUN = 4_200;
/**
 * What a run leaves in the old generation until V8 collects the whole heap. With PostgreSQL and Redis some 2,500, of which the cached
 * messages are most; the embedded database leaves 7,000 more. It was 24,000 to 31,000 when drivers created functions there.
 */
const LEFT_BYTES_A_RUN = process.env['TEST_MODE'] === 'cluster' ? 6_000 : 16_000;

/** In bytes. */
interface Heap {
  /** The old generation, with its garbage. */
  readonly oldBefore: number;
  /** The old generation alone. */
  readonly old: number;
  readonly kept: number;
}

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let client: ServiceClient;
let file: string;

beforeAll(async () => {
  models = await ScriptedModels.start();
  models.always(says('Lift the car. ', 'Take the wheel off.'));
  environment = await modeEnvironment();
  data = await dataFolder();
  file = join(data.path, '..', `heap-${process.pid}`);
  service = await ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables, HEAP_PROBE_FILE: file },
    nodeOptions: ['--liftoff-only', '--max-old-space-size=300', '--expose-gc', '--import', PROBE],
  });
  client = new ServiceClient(service, service.firstKey ?? '');
});

afterAll(async () => {
  await service.kill();
  await models.close();
  await environment.close();
  data.remove();
  rmSync(file, { force: true });
});

async function look(): Promise<Heap> {
  rmSync(file, { force: true });
  service.signal('SIGUSR2');
  await until(() => existsSync(file), 'the process has collected its garbage');
  return JSON.parse(readFileSync(file, 'utf8')) as Heap;
}

async function runs(threads: readonly string[], count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const threadId = threads[next++ % threads.length] ?? '';
      const events = await client.streamed(threadId, 'How do I change a tyre?');
      expect(events.at(-1)?.type).toBe('RUN_FINISHED');
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

it('a run leaves nothing in memory but its messages and its events, and little garbage that is collected late', async () => {
  const agents = await Promise.all(Array.from({ length: AGENTS }, () => client.thread()));
  const threads = await Promise.all(
    Array.from({ length: THREADS }, async (_, index) => {
      const body = { assistant_id: agents[index % AGENTS]?.agentId };
      return (await client.call<{ id: string }>('POST', '/v1/threads', body)).id;
    }),
  );
  // What the first runs load and compile stays. What else is compiled or caught under way shows in single steps.
  await runs(threads, RUNS_OF_A_STEP);
  const kept: number[] = [];
  const left: number[] = [];
  for (let before = await look(); kept.length < STEPS;) {
    await runs(threads, RUNS_OF_A_STEP);
    const after = await look();
    kept.push((after.kept - before.kept) / RUNS_OF_A_STEP);
    left.push((after.oldBefore - before.old) / RUNS_OF_A_STEP);
    before = after;
  }
  expect(Math.min(...kept)).toBeLessThan(KEPT_BYTES_A_RUN);
  expect(left.toSorted((one, other) => one - other)[Math.floor(STEPS / 2)]).toBeLessThan(LEFT_BYTES_A_RUN);
}, 600_000);
