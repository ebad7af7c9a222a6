import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';

let folder: string;
let owner: ChildProcess;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'owner-killed-'));
});
afterEach(() => {
  owner.kill('SIGKILL');
  for (const pid of pids()) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function pids(): readonly number[] {
  const path = join(folder, 'pids');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number) : [];
}

/** Counts a zombie as dead: the process that adopts it may be slow to reap it. */
function isRunning(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  try {
    return !/\) [ZX] /.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}

describe('a process of the service that is killed', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s leaves neither its local servers running nor the processes that they started',
    async (signal) => {
      owner = spawn(process.execPath, [resolve('test/support/owner-of-processes.mjs'), folder], { stdio: 'ignore' });
      await until(() => pids().length === 3, 'child, grandchild and orphan run');
      expect(pids().every(isRunning)).toBe(true);
      owner.kill(signal);
      await until(() => !pids().some(isRunning), 'all of them have ended');
    },
  );
});
