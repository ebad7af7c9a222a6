import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '../../src/platform/ids/index.js';
import { ServiceClient } from './service-client.js';
import { CustomerWork, expectAllThere } from '../support/customer-work.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { operate } from '../support/operator-process.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

// Starts processes.
const run = promisify(execFile);

type Variables = Readonly<Record<string, string>>;

clusterOnly('a dump of PostgreSQL and a later copy of the files, made while the service works', () => {
  const root = mkdtempSync(join(tmpdir(), 'pg-backup-'));
  const dump = join(root, 'agents.dump');
  let models: ScriptedModels;
  let environment: ModeEnvironment;
  let target: TestDatabase | undefined;
  const running: ServiceProcess[] = [];
  const dataDir = (name: string): string => join(root, name);

  beforeAll(async () => {
    models = await ScriptedModels.start();
    models.always(says('ok'));
    environment = await modeEnvironment();
  });
  afterAll(async () => {
    await Promise.all(running.map((service) => service.kill()));
    await Promise.all([models.close(), environment.close(), target?.close()]);
    rmSync(root, { recursive: true, force: true });
  });

  async function start(role: 'all' | 'api', variables: Variables): Promise<ServiceProcess> {
    const service = await ServiceProcess.start({ role, environment: { ...variables, ...models.environment } });
    running.push(service);
    return service;
  }

  async function customerKey(variables: Variables): Promise<string> {
    const { answer } = await operate(['org', 'create', '--name', 'A'], variables);
    const words = ['key', 'create', '--org', String(answer?.['id']), '--capabilities', 'chat,manageAgents'];
    return String((await operate(words, variables)).answer?.['key']);
  }

  /** The ids of the jobs that remove the data of a deleted agent. */
  async function removals(variables: Variables): Promise<readonly string[]> {
    const { answer } = await operate(['jobs', 'list', '--name', 'agents.remove-data'], variables);
    return ((answer?.['jobs'] ?? []) as { id: string }[]).map(({ id }) => id);
  }

  it('has every thread, file and secret that was confirmed before it, and its jobs run on an empty Redis', async () => {
    const { DATABASE_URL = '' } = environment.variables;
    const original = { ...environment.variables, DATA_DIR: dataDir('original') };
    // Without a worker, so that the jobs are still to be done.
    const service = await start('api', original);
    const key = await customerKey(original);
    const { agentId } = await new ServiceClient(service, key).thread();
    await new ServiceClient(service, key).fetch('DELETE', `/v1/agents/${agentId}`);
    const work = await CustomerWork.begin(service, key);
    const before = work.confirmed();
    await run('pg_dump', ['--format=custom', `--file=${dump}`, DATABASE_URL]);
    cpSync(join(original.DATA_DIR, 'files'), join(dataDir('copy'), 'files'), { recursive: true });
    await work.stop();

    target = await openTestDatabase([]);
    const url = target.url ?? '';
    const copied = {
      ...original,
      ...{ DATABASE_URL: url, REDIS_PREFIX: `test-${newId()}`, DATA_DIR: dataDir('copy') },
    };
    await run('pg_restore', ['--no-owner', '--clean', '--if-exists', `--dbname=${url}`, dump]);
    const [waiting] = await removals(copied);
    expect(waiting).toBeDefined();
    // As if the minute had passed after which a job that Redis was given is given to it again.
    await target.database.query("update outbox set available_at = available_at - interval '1 minute'");
    const copy = await start('all', copied);
    await expectAllThere(copy, key, { before, models });
    await until(async () => !(await removals(copied)).includes(waiting ?? ''), 'the job of the original to be done');
    expect((await operate(['jobs', 'list', '--failed'], copied)).answer).toEqual({ jobs: [] });
  });
});
