import type { ChildProcess as NodeChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOSE_STEP_MS } from './limits.js';
import { ProcessGroup } from './process-group.js';
import { processorTimeMs, readProcessTable } from './process-table.js';
import type { Excess, ProcessWatch } from './process-watch.js';

export interface ProcessEnd {
  readonly exitCode: number | null;
  /** The limit that it exceeded, for which it was killed. */
  readonly excess: Excess | null;
  readonly signal?: NodeJS.Signals;
}

export type SpawnedProcess = NodeChildProcess & { readonly stdin: Writable; readonly stdout: Readable };

/** A running child process. Its descendants end with it. */
export class ChildProcess {
  readonly pid: number;
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the child has ended. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  private readonly group: ProcessGroup;
  private excess: Excess | null = null;
  private closing: Promise<void> | undefined;
  private gone = false;

  /** @param child spawned as the leader of its group, with the owner's descriptor open */
  constructor(
    private readonly child: SpawnedProcess,
    watch: ProcessWatch,
  ) {
    const { pid = NaN } = child;
    this.pid = pid;
    this.input = child.stdin;
    this.output = child.stdout;
    // A child that has ended does not read; `ended` reports its end.
    for (const emitter of [child, ...child.stdio]) emitter?.on('error', () => undefined);
    this.group = new ProcessGroup(pid);
    watch.add(this.group, (excess) => {
      this.excess = excess;
      this.group.kill();
    });
    this.ended = new Promise((resolve) => {
      // Not `close`, which waits for every descendant that holds a pipe.
      child.once('exit', (exitCode, signal) => {
        this.gone = true;
        watch.remove(this.group);
        this.group.kill();
        for (const stream of child.stdio) if (stream !== this.output) stream?.destroy();
        // Its last output can be read for a while; a descendant that left the group may keep the pipe open.
        setTimeout(() => this.output.destroy(), CLOSE_STEP_MS).unref();
        resolve({ exitCode, excess: this.excess, ...(signal && { signal }) });
      });
    });
  }

  get hasEnded(): boolean {
    return this.gone;
  }

  /** Of the child without its descendants, in milliseconds; undefined if the system does not report it. */
  processorTimeMs(): number | undefined {
    return processorTimeMs(this.pid);
  }

  /** Whether the child keeps this process alive, which is the default. */
  keepsOwner(keeps: boolean): void {
    const change = keeps ? 'ref' : 'unref';
    this.child[change]();
    for (const stream of this.child.stdio) if (stream instanceof Socket) stream[change]();
  }

  /** Ends its input, then sends `SIGTERM`, then kills it, with `CLOSE_STEP_MS` between the steps. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  async kill(): Promise<void> {
    // Later the pid may belong to another process.
    if (!this.gone) this.group.kill();
    await this.ended;
  }

  private async end(): Promise<void> {
    // Descendants that left the session can be found only while their parents exist.
    this.group.update(await readProcessTable());
    this.input.end();
    // Unread output must not keep it from ending.
    this.output.resume();
    if (await this.endsWithin(CLOSE_STEP_MS)) return;
    this.group.terminate();
    if (await this.endsWithin(CLOSE_STEP_MS)) return;
    await this.kill();
  }

  private async endsWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const waited = sleep(ms, false, { signal: timer.signal }).catch(() => false);
    const ended = await Promise.race([this.ended.then(() => true), waited]);
    timer.abort();
    return ended;
  }
}
