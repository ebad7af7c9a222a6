import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Findings } from '../findings.ts';
import { comesTrue } from '../until.ts';
import type { Outages } from './outages.ts';

/** What Kubernetes gives a process by default, with some time for a machine that is busy. */
const STOP_WITHIN_MS = 40_000;
/** Without what its main thread computes, which is as slow as the machine, up to `MOST_COMPUTING_MS`. */
const READY_WITHIN_MS = 10_000;
const MOST_COMPUTING_MS = 30_000;
/** Of a process that has migrated, which waits for the locks of tables. */
const MIGRATED = 'The database was brought up to date';
/** A worker has no port to ask. */
const WORKER_READY = 'The worker is ready';
const GIVE_UP_MS = 120_000;
/** A finding shows so many of the newest lines of a log. */
const LINES = 8;
const LINE_LENGTH = 1000;

export interface MemorySample {
  readonly ageSeconds: number;
  readonly residentMiB: number;
  readonly heapMiB: number | null;
}

/** One life of a process. */
export interface Generation {
  readonly service: string;
  readonly number: number;
  readonly build: string;
  readonly log: string;
  readonly samples: MemorySample[];
  readyAfterMs: number | null;
  end: string | null;
}

export interface ServiceOptions {
  readonly role: 'api' | 'worker';
  readonly name: string;
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly logs: string;
  readonly findings: Findings;
  readonly outages: Outages;
}

/** One process of the service, which is started again like a supervisor does it. */
export class Service {
  readonly generations: Generation[] = [];
  private readonly options: ServiceOptions;
  private child: ChildProcess | undefined;
  private startedAt = 0;
  private isExpectedToEnd = false;
  private isSuspended = false;
  private resumedAt = 0;

  constructor(options: ServiceOptions) {
    this.options = options;
  }

  get name(): string {
    return this.options.name;
  }

  get role(): 'api' | 'worker' {
    return this.options.role;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get generation(): Generation | undefined {
    return this.generations.at(-1);
  }

  /** @param build the folder of the release */
  async start(build: string): Promise<void> {
    const number = this.generations.length + 1;
    const log = join(this.options.logs, `${this.name}.${number}.log`);
    this.generations.push({ service: this.name, number, build, log, samples: [], readyAfterMs: null, end: null });
    this.startedAt = performance.now();
    this.isExpectedToEnd = false;
    const output = openSync(log, 'a');
    const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
    const child = spawn(process.execPath, ['dist/main.js', this.role], {
      cwd: build,
      env: { PATH, HOME, TMPDIR, LOG_LEVEL: 'info', ...this.options.environment, PORT: String(this.options.port) },
      stdio: ['ignore', output, output],
    });
    this.child = child;
    const generation = this.generation;
    child.once('exit', (code, signal) => {
      if (generation) generation.end = String(code ?? signal);
      if (!this.isExpectedToEnd && this.child === child) void this.afterUnexpectedEnd(child, build, code ?? signal);
    });
    await this.becomesReady(child);
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** As a deploy does: asks it to stop, and kills it once the time for that is over. */
  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  async suspend(milliseconds: number): Promise<void> {
    this.isSuspended = true;
    this.child?.kill('SIGSTOP');
    await sleep(milliseconds);
    this.child?.kill('SIGCONT');
    this.isSuspended = false;
    this.resumedAt = performance.now();
  }

  async sample(): Promise<void> {
    const { generation, pid } = this;
    if (pid === 0 || generation?.end !== null || this.isSuspended) return;
    try {
      const resident = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      const ageSeconds = Math.round((performance.now() - this.startedAt) / 1000);
      const heap = this.role === 'api' ? await this.heapMiB() : null;
      generation.samples.push({ ageSeconds, residentMiB: Math.round(resident / 1024), heapMiB: heap });
    } catch {
      // It has just ended, or cannot answer during a fault.
    }
  }

  private async heapMiB(): Promise<number | null> {
    const answer = await fetch(`${this.origin}/metrics`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
    const used = /^nodejs_heap_size_used_bytes\S*\s+([\d.e+]+)/m.exec((await answer?.text()) ?? '')?.[1];
    return used === undefined ? null : Math.round(Number(used) / 1_048_576);
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    // Also of one that has ended by itself: the fault starts it again, and a second start would find the port in use.
    this.isExpectedToEnd = true;
    if (!child || hasEnded(child)) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    // A suspended process gets nothing but this.
    child.kill('SIGCONT');
    const late = setTimeout(() => {
      this.options.findings.add('stop', `${this.name} did not stop in ${STOP_WITHIN_MS / 1000} s`, this.evidence());
      child.kill('SIGKILL');
    }, STOP_WITHIN_MS);
    await exited;
    clearTimeout(late);
  }

  /** A start may fail while the database is away; a supervisor starts it again. */
  private async afterUnexpectedEnd(child: ChildProcess, build: string, how: number | string | null): Promise<void> {
    const wasStarting = this.generation?.readyAfterMs === null;
    const away =
      this.options.outages.lastSince(this.startedAt - 15_000, ['PostgreSQL', 'Redis']) > this.startedAt - 15_000;
    if (!wasStarting || !away)
      this.options.findings.add('exit', `${this.name} ended by itself (${String(how)})`, this.evidence());
    await sleep(1000);
    // Not when a fault that restarts the process has begun meanwhile.
    if (!this.isExpectedToEnd && this.child === child) await this.start(build);
  }

  private async becomesReady(child: ChildProcess): Promise<void> {
    const ready = async (): Promise<boolean> => {
      if (hasEnded(child)) return true;
      if (this.role === 'worker') return readFileSync(log, 'utf8').includes(WORKER_READY);
      const answer = await fetch(`${this.origin}/health/ready`, { signal: AbortSignal.timeout(2000) });
      return answer.status === 200;
    };
    const { generation } = this;
    const log = generation?.log ?? '';
    const isReady = await comesTrue(ready, GIVE_UP_MS);
    if (!generation || this.isExpectedToEnd || hasEnded(child)) return;
    const from = Math.max(this.options.outages.lastSince(this.startedAt, ['PostgreSQL', 'Redis']), this.resumedAt);
    generation.readyAfterMs = Math.round(performance.now() - this.startedAt);
    const waitedMs = processorMs(child.pid);
    const late = Math.round(performance.now() - from - waitedMs);
    const hasMigrated = linesOf(log).some((line) => line.includes(MIGRATED));
    if (!isReady || (late > READY_WITHIN_MS && !hasMigrated))
      this.options.findings.add('ready', `${this.name} was not ready within 10 s`, {
        late,
        isReady,
        ...this.evidence(),
      });
  }

  /** The newest lines of all its lives that `isWanted` wants, each begun with its name. */
  logged(isWanted: (line: string) => boolean): string[] {
    const lines = this.generations.flatMap(({ log }) => linesOf(log).filter(isWanted));
    return lines.slice(-LINES).map((line) => `${this.name} ${line.slice(0, LINE_LENGTH)}`);
  }

  private evidence(): Readonly<Record<string, unknown>> {
    const log = this.generation?.log ?? '';
    return { log, lines: linesOf(log).slice(-LINES) };
  }
}

function linesOf(log: string): string[] {
  return readFileSync(log, 'utf8').trimEnd().split('\n');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** How long its main thread has used a processor and waited for one: on a slow machine that is most of a start. */
function processorMs(pid: number | undefined): number {
  try {
    const [used, waited] = readFileSync(`/proc/${pid ?? 0}/schedstat`, 'utf8')
      .split(' ')
      .map(Number);
    return Math.min(MOST_COMPUTING_MS, (used ?? 0) / 1_000_000) + (waited ?? 0) / 1_000_000;
  } catch {
    return 0;
  }
}
