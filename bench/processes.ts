import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Listening } from './ipc.ts';

const HERE = import.meta.dirname;
const ROOT = new URL('..', import.meta.url).pathname;
const STOP_MS = 10_000;
const READY_MS = 60_000;

export type Environment = Readonly<Record<string, string>>;

/** The inherited environment: the caller's settings of the service must not reach the measured one. */
function inherited(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'NODE_OPTIONS', 'LANG'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

/** All processes of the bench; `stop` ends them in any state. */
export class Processes {
  private readonly running = new Set<ChildProcess>();
  private stopped = false;

  /** Starts a process of the bench, which reports where it listens. */
  async startServer(file: string, args: readonly string[] = [], env: Environment = {}): Promise<Listening> {
    const child = this.startFork(file, args, env);
    const [listening] = (await Promise.race([once(child, 'message'), failure(child, file)])) as [Listening];
    return listening;
  }

  startFork(file: string, args: readonly string[] = [], env: Environment = {}): ChildProcess {
    return this.keep(
      fork(`${HERE}/${file}`, [...args], { env: { ...inherited(), ...env }, serialization: 'advanced' }),
    );
  }

  /** Starts the built service and waits until it is ready. */
  async startService(role: 'all' | 'api' | 'worker', env: Environment, nodeArgs: readonly string[]): Promise<Service> {
    const port = await freePort();
    const child = this.keep(
      spawn(process.execPath, [...nodeArgs, 'dist/main.js', role], {
        cwd: ROOT,
        env: { ...inherited(), ...env, PORT: String(port) },
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    const origin = `http://127.0.0.1:${port}`;
    if (role !== 'worker') await Promise.race([untilReady(origin), failure(child, `the service (${role})`)]);
    return { origin, pid: child.pid ?? 0, stop: () => this.end(child) };
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.running].map((child) => this.end(child)));
  }

  private keep(child: ChildProcess): ChildProcess {
    // A run may start a process while the bench is being stopped.
    if (this.stopped) child.kill('SIGKILL');
    this.running.add(child);
    child.once('exit', () => this.running.delete(child));
    return child;
  }

  private async end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.kill('SIGTERM');
    await exited;
    clearTimeout(timer);
  }
}

export interface Service {
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Runs an operator command and parses its output. */
export async function operatorCommand(line: readonly string[], env: Environment): Promise<Record<string, string>> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['dist/cli.js', ...line], {
    cwd: ROOT,
    env: { ...inherited(), ...env },
  });
  return JSON.parse(stdout) as Record<string, string>;
}

async function failure(child: ChildProcess, name: string): Promise<never> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  throw new Error(`${name} ended before it was ready (${code ?? signal ?? 'no reason'})`);
}

async function untilReady(origin: string): Promise<void> {
  const until = Date.now() + READY_MS;
  while (Date.now() < until) {
    const answer = await fetch(`${origin}/health/ready`).catch(() => undefined);
    if (answer?.status === 200) return;
    await sleep(10);
  }
  throw new Error(`The service at ${origin} did not become ready`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
