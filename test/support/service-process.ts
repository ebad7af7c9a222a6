import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ENTRY = resolve('dist/main.js');
/** With what follows the address: without it, that may be the first half of one. */
const READY = /Listening on (http:\/\/\S+)\s/;
const FIRST_KEY = /\b(ak_[0-9A-Za-z]{49})\b/;
/** Tests start the same code some fifty times; compiling it is a good part of a start. */
export const COMPILE_CACHE = resolve('node_modules/.cache/compile');
/**
 * V8 compiles what the embedded database runs often a second time, in the background, to code that is faster: a fifth
 * of the computing that a start takes, and a process that lives for seconds never gets it back.
 */
export const SHORT_LIVED = ['--liftoff-only'];
/** Far longer than a start takes; a machine that runs other tests beside it is slow. */
const READY_WITHIN_MS = 60_000;

export interface ProcessOptions {
  /** Of `dist/main.js`; the word that another program is given. */
  readonly role?: 'all' | 'api' | 'worker' | 'demo' | 'migrate';
  readonly environment: Readonly<Record<string, string>>;
  /** Another program than the service's own `dist/main.js`. */
  readonly entry?: string;
  /** Given to the Node that runs it, instead of `SHORT_LIVED`. */
  readonly nodeOptions?: readonly string[];
}

/** The built service as a process of its own, started as its start script starts it. */
export class ServiceProcess {
  private output = '';
  private readonly closed: Promise<unknown>;

  private constructor(private readonly child: ChildProcess) {
    // Not `exit`, at which what it wrote last may still be in the pipe.
    this.closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (chunk: string) => (this.output += chunk));
    }
  }

  /** @throws Error with what the process wrote, when it ends or is not ready in time */
  static async start(options: ProcessOptions): Promise<ServiceProcess> {
    const service = ServiceProcess.spawn(options);
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!READY.test(service.output)) {
      if (service.exited) throw new Error(`The service ended while it started:\n${service.output}`);
      if (Date.now() > deadline) {
        service.child.kill('SIGKILL');
        throw new Error(`The service was not ready in time:\n${service.output}`);
      }
      await new Promise((wait) => setTimeout(wait, 20));
    }
    return service;
  }

  /** Starts it without waiting for it: for starts that are expected to fail. */
  static spawn({
    role = 'all',
    environment,
    entry = ENTRY,
    nodeOptions = SHORT_LIVED,
  }: ProcessOptions): ServiceProcess {
    const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
    return new ServiceProcess(
      spawn(process.execPath, [...nodeOptions, entry, role], {
        env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: '0', LOG_LEVEL: 'warn', ...environment },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      }),
    );
  }

  get url(): string {
    const url = READY.exec(this.output)?.[1];
    if (url === undefined) throw new Error('The service has not said where it listens');
    return url;
  }

  /** The key that the first start prints. */
  get firstKey(): string | undefined {
    return FIRST_KEY.exec(this.output)?.[1];
  }

  /** Everything it wrote so far. */
  get written(): string {
    return this.output;
  }

  get exited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Once all that it wrote was read. @returns the exit code, null when a signal ended it */
  async ended(): Promise<number | null> {
    await this.closed;
    return this.child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Asks a program that answers questions over its channel; one at a time. */
  async ask(question: string): Promise<unknown> {
    const answered = once(this.child, 'message') as Promise<[unknown]>;
    this.child.send(question);
    const [answer] = await answered;
    return answer;
  }

  /** As `kill -9` does: nothing is flushed, nothing is said. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended();
  }
}
