import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Confirmed, CustomerWork, expectAllThere } from '../support/customer-work.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { operate, type OperatorOutcome } from '../support/operator-process.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { ServiceClient } from './service-client.js';

// Starts processes.
const root = mkdtempSync(join(tmpdir(), 'backup-'));
const file = join(root, 'service.backup');
let models: ScriptedModels;
let data: DataFolder;
let service: ServiceProcess;
let key = '';
let before: Confirmed;
let made: OperatorOutcome;
/** Runs that the database refused while the backup was made. */
let refusals = 0;

beforeAll(async () => {
  models = await ScriptedModels.start();
  models.always(says('ok'));
  data = await dataFolder();
  service = await ServiceProcess.start({ environment: { DATA_DIR: data.path, ...models.environment } });
  key = service.firstKey ?? '';
  const refusedRuns = await RefusedRuns.prepare(await otherClient());
  const work = await CustomerWork.begin(service, key);
  before = work.confirmed();
  const making = operate(['backup', file], { DATA_DIR: data.path });
  refusals = await refusedRuns.during(making);
  made = await making;
  await work.stop();
});
afterAll(async () => {
  await service.kill();
  await models.close();
  data.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Of an organization of its own, which has its own request limits. */
async function otherClient(): Promise<ServiceClient> {
  const cli = async (...line: string[]): Promise<Record<string, unknown>> => ({
    ...(await operate(line, { DATA_DIR: data.path })).answer,
  });
  const { id } = await cli('org', 'create', '--name', 'Other');
  const made = await cli('key', 'create', '--org', String(id), '--capabilities', 'manageAgents,chat');
  return new ServiceClient(service, String(made['key']));
}

/** A second run on the thread of a run under way violates a unique index. */
class RefusedRuns {
  private readonly held = new HeldReply(['Not yet']);
  private running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly client: ServiceClient,
    private readonly threadId: string,
  ) {}

  static async prepare(client: ServiceClient): Promise<RefusedRuns> {
    const { threadId } = await client.thread();
    const runs = new RefusedRuns(client, threadId);
    models.next(runs.held.script);
    runs.running = client.streamed(threadId, 'Wait');
    await runs.held.asked;
    return runs;
  }

  /** Tries one after the other until `work` is done. @returns how many the service has refused */
  async during(work: Promise<unknown>): Promise<number> {
    let [refused, isDone] = [0, false];
    const done = work.finally(() => (isDone = true));
    const body = { message: { role: 'user', content: 'Now' } };
    while (!isDone) {
      const { status } = await this.client.fetch('POST', `/v1/threads/${this.threadId}/runs`, body);
      if (status === 409) refused += 1;
    }
    this.held.finish();
    await Promise.all([done, this.running]);
    return refused;
  }
}

const folder = (name: string): string => join(root, name);
const restore = (name: string, from = file): Promise<OperatorOutcome> =>
  operate(['restore', from], { DATA_DIR: folder(name) });
const contentOf = (name: string): string[] =>
  readdirSync(folder(name)).filter((entry) => !entry.startsWith('service.lock'));

describe('a backup of a service that is working', () => {
  it('is one file that only its owner can read', () => {
    expect(made).toMatchObject({ code: 0, answer: { file, secretsKey: 'included', schema: expect.any(String) } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(file).size).toBe(made.answer?.['bytes']);
    expect(readdirSync(root)).toEqual(['service.backup']);
  });

  it('is made although statements of requests fail meanwhile', () => {
    expect(made.code).toBe(0);
    expect(refusals).toBeGreaterThan(1);
  });

  it('replaces no file', async () => {
    const size = statSync(file).size;
    const again = await operate(['backup', file], { DATA_DIR: data.path });
    expect(again).toEqual({ code: 1, answer: undefined, complaint: `${file} exists; a backup replaces no file\n` });
    expect(statSync(file).size).toBe(size);
  });

  it('leaves nothing behind where it cannot be written', async () => {
    const { code, complaint } = await operate(['backup', folder('none/x')], { DATA_DIR: data.path });
    expect(code).toBe(1);
    expect(complaint).toMatch(/^the backup cannot be written to \S+: ENOENT[^\n]*\n$/);
  });

  it.each(['files', 'integrations/x', 'database'])('is not written into %s, which it would contain', async (inside) => {
    const target = join(data.path, inside, 'a.backup');
    const { code, complaint } = await operate(['backup', target], { DATA_DIR: data.path });
    expect([code, complaint]).toEqual([
      1,
      expect.stringMatching(/^\S+ is in a folder that the backup copies[^\n]*\n$/),
    ]);
    expect(existsSync(target)).toBe(false);
  });

  it('removes no file but its own', async () => {
    const note = folder('note.backup.part');
    writeFileSync(note, 'mine');
    expect((await operate(['backup', folder('note.backup')], { DATA_DIR: data.path })).code).toBe(0);
    expect(readFileSync(note, 'utf8')).toBe('mine');
    expect(readdirSync(root).filter((name) => name.includes('note'))).toEqual(['note.backup', 'note.backup.part']);
  });

  it('is restored elsewhere with every thread, file and secret that was confirmed before it', async () => {
    // As on a new volume.
    mkdirSync(join(folder('restored'), 'lost+found'), { recursive: true });
    const { code, answer } = await restore('restored');
    expect(code).toBe(0);
    expect(answer).toMatchObject({ dataDir: folder('restored'), secretsKey: 'restored' });
    expect(contentOf('restored').sort()).toEqual(['database', 'files', 'lost+found', 'secrets.key']);
    expect(statSync(join(folder('restored'), 'secrets.key')).mode & 0o777).toBe(0o600);
    const copy = await ServiceProcess.start({ environment: { DATA_DIR: folder('restored'), ...models.environment } });
    try {
      await expectAllThere(copy, key, { before, models });
    } finally {
      await copy.kill();
    }
  });
});

describe('a restore', () => {
  it('is refused while a service runs on the folder, and in a folder that is not empty', async () => {
    const running = await operate(['restore', file], { DATA_DIR: data.path });
    expect([running.code, running.complaint]).toEqual([
      1,
      expect.stringMatching(/^a service is running on this DATA_DIR/),
    ]);
    mkdirSync(folder('used'));
    writeFileSync(join(folder('used'), 'note.txt'), 'mine');
    const used = await restore('used');
    expect([used.code, used.complaint]).toEqual([1, expect.stringMatching(/is not empty \(note\.txt\)/)]);
    expect(contentOf('used')).toEqual(['note.txt']);
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['changed', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 5_000), Buffer.from('x'), bytes.subarray(5_001)])],
    ['of something else', () => Buffer.from('PK, but no backup')],
  ])('leaves the folder empty when the file is %s', async (_what, damage) => {
    const damaged = folder('damaged.backup');
    writeFileSync(damaged, damage(readFileSync(file)));
    const { code, complaint } = await restore('after-damage', damaged);
    expect([code, complaint]).toEqual([1, expect.stringMatching(/is not a whole backup: [^\n]+\n$/)]);
    expect(contentOf('after-damage')).toEqual([]);
  });

  it('that was interrupted keeps a service from starting, and may be repeated', async () => {
    // As a killed restore leaves them: some folders are in their place, others not.
    mkdirSync(join(folder('interrupted'), '.restore', 'database'), { recursive: true });
    mkdirSync(join(folder('interrupted'), 'files', 'uploads'), { recursive: true });
    const start = ServiceProcess.start({ environment: { DATA_DIR: folder('interrupted') } });
    await expect(start).rejects.toThrow(/a restore into \S+ was interrupted; run it again/);
    expect(existsSync(join(folder('interrupted'), 'secrets.key'))).toBe(false);
    expect((await restore('interrupted')).code).toBe(0);
    expect(contentOf('interrupted').sort()).toEqual(['database', 'files', 'secrets.key']);
  });
});

describe('without a service', () => {
  it('a backup holds the key of the folder also where another one is set', async () => {
    expect((await restore('keyed')).code).toBe(0);
    const second = folder('keyed.backup');
    const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
    const { answer } = await operate(['backup', second], { DATA_DIR: folder('keyed'), SECRETS_KEY });
    expect(answer).toMatchObject({ secretsKey: 'SECRETS_KEY' });
    expect((await restore('again', second)).answer).toMatchObject({ secretsKey: 'restored' });
    const keyIn = (name: string): string => readFileSync(join(folder(name), 'secrets.key'), 'utf8');
    expect(keyIn('again')).toBe(keyIn('keyed'));
  });

  it('a backup of a folder without a database is refused and makes none', async () => {
    const { code, complaint } = await operate(['backup', folder('none.backup')], { DATA_DIR: folder('mistyped') });
    expect([code, complaint]).toEqual([
      1,
      expect.stringMatching(/^DATA_DIR: \S+mistyped holds no database; [^\n]+\n$/),
    ]);
    expect([existsSync(folder('none.backup')), existsSync(folder('mistyped'))]).toEqual([false, false]);
  });

  it('a backup of a restored folder is restored again, with the programs of local tool servers', async () => {
    expect((await restore('first')).code).toBe(0);
    const server = join('integrations', 'a');
    mkdirSync(join(folder('first'), server), { recursive: true });
    const program = join(server, 'v1:2\\tool');
    writeFileSync(join(folder('first'), program), '#!/bin/sh');
    chmodSync(join(folder('first'), program), 0o4755);
    symlinkSync('v1:2\\tool', join(folder('first'), server, 'tool'));
    symlinkSync('/bin/sh', join(folder('first'), server, 'shell'));
    const second = folder('second.backup');
    const { answer } = await operate(['backup', second], { DATA_DIR: folder('first') });
    expect(answer).toMatchObject({ leftOut: ['integrations/a/shell'] });
    expect((await restore('second', second)).code).toBe(0);
    expect(statSync(join(folder('second'), program)).mode & 0o7777).toBe(0o755);
    expect(readlinkSync(join(folder('second'), server, 'tool'))).toBe('v1:2\\tool');
    expect(readdirSync(join(folder('second'), server)).sort()).toEqual(['tool', 'v1:2\\tool']);
    const list = async (name: string): Promise<unknown> =>
      (await operate(['org', 'list'], { DATA_DIR: folder(name) })).answer;
    expect(await list('second')).toEqual(await list('first'));
  });
});
