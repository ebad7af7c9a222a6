import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareDatabase } from '../../../test/support/prepared-cluster.js';
import { SystemClock } from '../clock/index.js';
import { readSettings, type Settings } from '../config/index.js';
import { openDatabase, type OpenDatabase } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { operatorAddress } from './operator-address.js';
import { callService } from './operator-line.js';
import type { OperatorAnswer } from './operator-answer.js';
import { UsageError } from '../command-line/index.js';
import { runOperatorLine } from './operator-line.js';
import { OperatorServer } from './operator-server.js';

let root: string;
let dataDir: string;
const running: OperatorServer[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'operator-'));
  dataDir = join(root, 'data');
  await mkdir(dataDir);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
  await rm(root, { recursive: true });
});

/** What a service does with a line. */
async function run([name, ...args]: readonly string[]): Promise<object> {
  if (name === 'echo') return { args };
  throw name === 'refuse' ? new DomainError('conflict', 'It is taken.\nAnd more.') : new UsageError('unknown command');
}

async function serve(folder: string, runLine = run): Promise<OperatorServer> {
  const server = new OperatorServer(folder, runLine);
  await server.start();
  running.push(server);
  return server;
}

describe('the operator socket', () => {
  it('answers a command with its result, and a failure in one line', async () => {
    await serve(dataDir);
    expect(await callService(dataDir, ['echo', 'a b', 'ü'])).toEqual({ ok: true, result: { args: ['a b', 'ü'] } });
    expect(await callService(dataDir, ['refuse'])).toEqual({ ok: false, usage: false, message: 'It is taken.' });
    expect(await callService(dataDir, ['nonsense'])).toMatchObject({ ok: false, usage: true });
  });

  it('is accessible only to the user of the service', async () => {
    await serve(dataDir);
    const { path } = operatorAddress(dataDir);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(path.startsWith(dataDir)).toBe(true);
  });

  it('is found when the data folder has a long path', async () => {
    const long = join(dataDir, 'x'.repeat(120));
    await mkdir(long);
    await serve(long);
    const { path, privateFolder } = operatorAddress(long);
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
    expect((await stat(privateFolder!)).mode & 0o777).toBe(0o700);
    expect(await callService(long, ['echo'])).toMatchObject({ ok: true });
    expect(await callService(`${long}-other`, ['echo'])).toBeUndefined();
  });

  it('has no answer without a service and after one was killed, and the next service replaces it', async () => {
    expect(await callService(dataDir, ['echo'])).toBeUndefined();
    const { path } = operatorAddress(dataDir);
    const killed = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
    ]);
    await once(killed.stdout, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect((await stat(path)).isSocket()).toBe(true);
    expect(await callService(dataDir, ['echo'])).toBeUndefined();
    await serve(dataDir);
    expect(await callService(dataDir, ['echo'])).toMatchObject({ ok: true });
  });

  it('answers a malformed request, and survives a caller that disconnects', async () => {
    await serve(dataDir);
    const rude = createConnection(operatorAddress(dataDir).path);
    rude.end('not json\n');
    const [answer] = (await once(rude, 'data')) as [Buffer];
    expect(JSON.parse(answer.toString())).toMatchObject({ ok: false, usage: true });
    const gone = createConnection(operatorAddress(dataDir).path);
    await once(gone, 'connect');
    gone.destroy();
    expect(await callService(dataDir, ['echo'])).toMatchObject({ ok: true });
  });

  it('lets a command end before it closes, and does not wait for a caller that never ends its request', async () => {
    const begun = Promise.withResolvers<undefined>();
    const finish = Promise.withResolvers<object>();
    const server = await serve(dataDir, () => {
      begun.resolve(undefined);
      return finish.promise;
    });
    const silent = createConnection(operatorAddress(dataDir).path);
    await once(silent, 'connect');
    silent.write('{"line":');
    const answer = callService(dataDir, ['wait']);
    await begun.promise;
    const closed = server.close();
    finish.resolve({ done: true });
    expect(await answer).toEqual({ ok: true, result: { done: true } });
    await closed;
    silent.destroy();
    expect(await callService(dataDir, ['echo'])).toBeUndefined();
  });
});

describe('an operator line in embedded mode', () => {
  beforeEach(() => prepareDatabase(dataDir, []));

  const settings = (): Settings => readSettings({ DATA_DIR: dataDir }, { role: 'all', demo: false });
  /** A line that answers where it was run. */
  const line = (): Promise<OperatorAnswer> => {
    const runHere = async (): Promise<object> => {
      const open = await openDatabase(settings(), []);
      await open.close();
      return { in: 'this process' };
    };
    return runOperatorLine({ settings: settings(), clock: new SystemClock(), runHere }, ['echo']);
  };

  it('runs in the service when one listens', async () => {
    await serve(dataDir);
    expect(await line()).toEqual({ ok: true, result: { args: [] } });
  });

  it('runs in this process when no service uses the folder, and releases the folder', async () => {
    expect(await line()).toEqual({ ok: true, result: { in: 'this process' } });
    expect(await line()).toMatchObject({ ok: true });
  });

  it('waits for a service that uses the folder and is still starting', async () => {
    const open: OpenDatabase = await openDatabase(settings(), []);
    const answer = line();
    await serve(dataDir);
    expect(await answer).toEqual({ ok: true, result: { args: [] } });
    await open.close();
  });
});
