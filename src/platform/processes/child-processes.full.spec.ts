import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { readSettings } from '../config/index.js';
import { ChildProcesses, type ProcessCommand } from './child-processes.js';
import type { ChildProcess } from './child-process.js';
import { MAX_MEMORY_BYTES } from './limits.js';
import { readProcessTable, residentBytes } from './process-table.js';

const { PATH = '' } = process.env;
const processes = new ChildProcesses(readSettings({ PATH }, { role: 'all', demo: false }));
const started: ChildProcess[] = [];
/** Far more than the two seconds that it takes, for a slow machine. */
const MAX_CLOSE_MS = 30_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'child-process-'));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.kill()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(command: Partial<ProcessCommand>): Promise<ChildProcess> {
  const child = await processes.start({ command: 'sh', args: [], env: {}, folder, ...command });
  started.push(child);
  return child;
}

const shell = (script: string, env = {}): Promise<ChildProcess> => start({ args: ['-c', script], env });
const node = (script: string): Promise<ChildProcess> => start({ command: process.execPath, args: ['-e', script] });

/** The pids that a script has written into a file of its folder. */
function pidsIn(name: string): readonly number[] {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number) : [];
}

async function isRunning(pid: number): Promise<boolean> {
  return (await readProcessTable()).some((entry) => entry.pid === pid);
}

async function membersOf({ pid }: ChildProcess): Promise<number> {
  return (await readProcessTable()).filter(({ group, session }) => group === pid || session === pid).length;
}

describe('a child', () => {
  it('has the given variables, PATH and its folder, and no others of the environment', async () => {
    const names = ['SECRETS_KEY', 'DATABASE_URL', 'ANTHROPIC_API_KEY', 'NODE_OPTIONS_CANARY'];
    for (const name of names) process.env[name] = `canary-${name}`;
    const child = await start({ command: 'env', env: { GIVEN: 'a value' } });
    const lines = (await text(child.output)).trim().split('\n');
    expect(lines.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line)).sort()).toEqual(
      ['GIVEN=a value', `HOME=${folder}`, 'LANG=C.UTF-8', `PATH=${PATH}`, `TMPDIR=${folder}`].sort(),
    );
    for (const name of names) Reflect.deleteProperty(process.env, name);
  });

  it('has unchanged arguments, its folder, limits, and only the descriptors of input and output', async () => {
    const child = await start({
      args: ['-c', 'printf "%s|" "$@"; pwd; ulimit -n; ulimit -c; ls /proc/self/fd', 'sh', '$HOME', 'a b', '"'],
    });
    const [args, files, cores, ...descriptors] = (await text(child.output)).trim().split('\n');
    expect([args, files, cores]).toEqual([`$HOME|a b|"|${folder}`, '512', '0']);
    // Descriptors that this process inherited and passes on.
    const inherited = execFileSync('ls', ['/proc/self/fd'], { encoding: 'utf8' }).trim().split('\n');
    expect(descriptors).toEqual(inherited);
  });

  it('reads its input, and its output is read', async () => {
    const child = await start({ command: 'cat' });
    child.input.end('hello\n');
    expect(await text(child.output)).toBe('hello\n');
    expect(await child.ended).toEqual({ exitCode: 0, excess: null });
  });
});

describe('a child that cannot be started', () => {
  it('ends with 127 for a missing program, with 126 for a file that is not executable', async () => {
    writeFileSync(join(folder, 'text'), 'no program');
    expect(await (await start({ command: 'no-such-program' })).ended).toEqual({ exitCode: 127, excess: null });
    expect(await (await start({ command: join(folder, 'text') })).ended).toEqual({ exitCode: 126, excess: null });
  });

  it('is refused if its folder is missing or a value cannot be passed', async () => {
    await expect(start({ folder: join(folder, 'missing') })).rejects.toThrow('The process cannot be started');
    await expect(start({ env: { NUL: 'a\0b' } })).rejects.toThrow('The process cannot be started');
  });
});

describe('ending a child', () => {
  it('ends its input first', async () => {
    const child = await shell('cat; echo bye > ended');
    await child.close();
    expect(readFileSync(join(folder, 'ended'), 'utf8')).toBe('bye\n');
  });

  it('sends SIGTERM if it continues', async () => {
    const child =
      await node(`process.on('SIGTERM', () => { require('fs').writeFileSync('ended', 'bye'); process.exit(7); });
      setInterval(() => {}, 1000); console.log('ready')`);
    await until(() => child.output.readableLength > 0, 'it runs');
    await child.close();
    expect(await child.ended).toEqual({ exitCode: 7, excess: null });
    expect(readFileSync(join(folder, 'ended'), 'utf8')).toBe('bye');
  });

  it('kills it and its descendants if it ignores both', async () => {
    const child = await shell(`trap '' TERM; echo $$ >> pids
      sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' &
      setsid sh -c 'echo $$ >> pids; while :; do sleep 1; done' & while :; do sleep 1; done`);
    await until(() => pidsIn('pids').length === 3, 'all of them run');
    const start = performance.now();
    await child.close();
    expect(performance.now() - start).toBeLessThan(MAX_CLOSE_MS);
    for (const pid of pidsIn('pids')) await until(async () => !(await isRunning(pid)), `${pid} has ended`);
  });

  it('ends its descendants too', async () => {
    const child = await shell(
      `sh -c 'echo $$ >> pids; while :; do sleep 1; done' & while [ ! -s pids ]; do sleep 0.02; done`,
    );
    expect((await child.ended).exitCode).toBe(0);
    await until(async () => (await membersOf(child)) === 0, 'no process is left');
  });
});

describe('a child that exceeds a limit', () => {
  it('of memory is killed', async () => {
    // It stays below the kernel's limit, even if it is measured late.
    const child = await node(`const kept = [];
      setInterval(() => kept.length < 64 && kept.push(Buffer.alloc(16 * 1024 * 1024, 1)), 15)`);
    let most = 0;
    const sampling = setInterval(() => (most = Math.max(most, residentBytes(child.pid))), 20);
    expect((await child.ended).excess).toBe('memory');
    clearInterval(sampling);
    expect(most).toBeGreaterThan(MAX_MEMORY_BYTES / 2);
    expect(most).toBeLessThan(5 * MAX_MEMORY_BYTES);
  });

  it('of memory in one allocation is ended by the kernel', async () => {
    const child = await node(`const kept = []; for (;;) kept.push(Buffer.alloc(64 * 1024 * 1024, 1))`);
    const { exitCode } = await child.ended;
    expect(exitCode).not.toBe(0);
  });

  it('of the disk cannot continue to write', async () => {
    const child = await shell('truncate -s 200M small && truncate -s 300M large');
    expect((await child.ended).exitCode).not.toBe(0);
    expect([statSync(join(folder, 'small')).size, statSync(join(folder, 'large')).size]).toEqual([
      200 * 1024 * 1024,
      0,
    ]);
  });

  it('of processes is killed with all of them', async () => {
    const child = await shell(`i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; wait`);
    expect((await child.ended).excess).toBe('processes');
    await until(async () => (await membersOf(child)) === 0, 'no process is left');
  });
});
