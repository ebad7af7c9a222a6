import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { until } from '../../../../../test/support/until.js';
import { readSettings } from '../../../../platform/config/index.js';
import { ChildProcesses, PrivateFolders } from '../../../../platform/processes/index.js';
import { AgentLoopFailure } from '../../../domain/agent-loop.js';
import { AgentProcess, type ProcessHost } from './agent-process.js';
import type { ClaudeAgentSdk, SdkMessage, SdkQuery } from './installed-sdk.js';
import { IDLE_MS, MAX_RUNS, SHARE_MS } from './limits.js';
import { MessagesEndpoint } from './messages-endpoint.js';
import { ProcessPool } from './process-pool.js';

/** An SDK whose processes send nothing. */
class QuietSdk implements ClaudeAgentSdk {
  readonly open = new Set<QuietQuery>();
  /** Most open processes at a time. */
  most = 0;
  opened = 0;
  /** How many of the next starts fail. */
  broken = 0;

  query(): SdkQuery {
    this.opened += 1;
    if (this.broken > 0) {
      this.broken -= 1;
      throw new Error('no');
    }
    const query = new QuietQuery(() => this.open.delete(query));
    this.open.add(query);
    this.most = Math.max(this.most, this.open.size);
    return query;
  }

  createSdkMcpServer(): object {
    return {};
  }

  tool(): object {
    return {};
  }
}

class QuietQuery implements SdkQuery {
  private end: () => void = () => undefined;
  private readonly ended = new Promise<void>((resolve) => (this.end = resolve));

  constructor(private readonly onClose: () => void) {}

  close(): void {
    this.onClose();
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SdkMessage> {
    await this.ended;
    yield* [];
  }
}

const { signal } = new AbortController();
let root: string;
let clock: ManualClock;
let sdk: QuietSdk;
let host: ProcessHost;
let pool: ProcessPool;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'process-pool-'));
  clock = new ManualClock();
  sdk = new QuietSdk();
  const processes = new ChildProcesses(readSettings({}, { role: 'all', demo: false }));
  host = { sdk, processes, folders: new PrivateFolders(root), endpoint: new MessagesEndpoint(clock), clock };
  pool = poolOf(2);
});
afterEach(async () => {
  await pool.close();
  host.endpoint.close();
  rmSync(root, { recursive: true, force: true });
});

function poolOf(size: number): ProcessPool {
  return new ProcessPool((organizationId) => AgentProcess.start(host, organizationId), size, clock);
}

async function acquire(organizationId: string): Promise<AgentProcess> {
  const process = await pool.acquire(organizationId, signal);
  process.begin();
  return process;
}

/** Waiting runs, and their names in the order in which they are served. */
class Queue {
  readonly served: string[] = [];
  private readonly held: AgentProcess[] = [];
  private readonly done: Promise<void>[] = [];

  join(...names: readonly string[]): void {
    for (const name of names) this.done.push(this.wait(name));
  }

  /** Serves the waiting runs one after the other, each for this long. */
  async pass(first: AgentProcess, runMs = 0): Promise<readonly string[]> {
    await clock.advance(runMs);
    pool.release(first);
    for (const [nth] of this.done.entries()) {
      await until(() => this.held.length > nth, `${nth + 1} are served`);
      await clock.advance(runMs);
      pool.release(this.held[nth]!);
    }
    await Promise.all(this.done);
    return this.served;
  }

  /** @param name starts with that of the organization */
  private async wait(name: string): Promise<void> {
    const process = await acquire(name[0]!);
    this.served.push(name);
    this.held.push(process);
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('an organization', () => {
  it('reuses its process', async () => {
    const first = await acquire('a');
    pool.release(first);
    expect(await acquire('a')).toBe(first);
    expect(sdk.opened).toBe(1);
  });

  it('gets its idle process rather than a new one', async () => {
    pool = poolOf(3);
    const [a, b] = [await acquire('a'), await acquire('b')];
    pool.release(a);
    pool.release(b);
    expect(await acquire('b')).toBe(b);
    expect(await acquire('b')).not.toBe(a);
    expect(a.hasEnded).toBe(false);
  });

  it("never gets another organization's process: if the pool is full, an idle one ends and a new one starts", async () => {
    pool = poolOf(1);
    const a = await acquire('a');
    pool.release(a);
    const b = await acquire('b');
    expect([a.hasEnded, b.organizationId, b.hasEnded]).toEqual([true, 'b', false]);
    expect([sdk.opened, sdk.most]).toEqual([2, 1]);
    pool.release(b);
    expect(await acquire('a')).not.toBe(a);
  });

  it('with many runs keeps its process until another organization has waited for SHARE_MS', async () => {
    pool = poolOf(1);
    const queue = new Queue();
    const first = await acquire('a');
    queue.join('b1', 'a1', 'a2', 'c1', 'a3');
    expect(pool.counts).toEqual({ busy: 1, idle: 0, waiting: 5 });
    await clock.advance(SHARE_MS - 1);
    expect(await queue.pass(first)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
    expect(sdk.opened).toBe(3);
  });

  it('with many runs delays another one that has waited for SHARE_MS by at most one run', async () => {
    pool = poolOf(1);
    const queue = new Queue();
    const first = await acquire('a');
    queue.join('a1', 'a2', 'a3', 'a4', 'a5', 'b1');
    await clock.advance(SHARE_MS);
    expect(await queue.pass(first)).toEqual(['a1', 'b1', 'a2', 'a3', 'a4', 'a5']);
  });

  it('takes turns with all others if runs are long', async () => {
    pool = poolOf(1);
    const queue = new Queue();
    const first = await acquire('a');
    queue.join('a1', 'a2', 'a3', 'b1', 'b2', 'c1');
    expect(await queue.pass(first, SHARE_MS)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('is served, however many runs another organization starts', async () => {
    pool = poolOf(1);
    let process = await acquire('a');
    let isServed = false;
    const waiting = acquire('b').then((served) => {
      isServed = true;
      return served;
    });
    for (let turn = 0; turn * 1_000 < SHARE_MS; turn += 1) {
      const next = acquire('a');
      pool.release(process);
      process = await next;
      await clock.advance(1_000);
    }
    expect(isServed).toBe(false);
    void acquire('a');
    pool.release(process);
    expect((await waiting).organizationId).toBe('b');
  });
});

describe('the pool', () => {
  it('never has more processes than its size, including those that start', async () => {
    const waiting = ['a', 'b', 'c', 'a'].map((organizationId) => acquire(organizationId));
    expect(pool.counts).toEqual({ busy: 2, idle: 0, waiting: 2 });
    const [a, b] = await Promise.all(waiting.slice(0, 2));
    await settled();
    expect([sdk.opened, pool.counts.waiting]).toEqual([2, 2]);
    pool.release(a!);
    pool.release(b!);
    await Promise.all(waiting);
    expect(sdk.most).toBe(2);
  });

  it('serves 50 runs of 5 organizations on 4 processes', async () => {
    pool = poolOf(4);
    let [running, most] = [0, 0];
    // The first runs wait for one another, since a process may take longer to start than a run takes.
    const full = Promise.withResolvers<undefined>();
    const run = async (organizationId: string): Promise<void> => {
      const process = await acquire(organizationId);
      expect(process.organizationId).toBe(organizationId);
      running += 1;
      most = Math.max(most, running);
      if (running === 4) full.resolve(undefined);
      await full.promise;
      await settled();
      running -= 1;
      pool.release(process);
    };
    await Promise.all(Array.from({ length: 50 }, (_, nth) => run(['a', 'b', 'c', 'd', 'e'][nth % 5]!)));
    expect([most, sdk.most]).toEqual([4, 4]);
    expect(pool.counts).toMatchObject({ busy: 0, waiting: 0 });
  });

  it('starts a new process if the idle one has ended', async () => {
    const first = await acquire('a');
    pool.release(first);
    await first.kill('it has ended');
    expect(pool.counts).toEqual({ busy: 0, idle: 0, waiting: 0 });
    expect(await acquire('a')).not.toBe(first);
  });

  it('serves the next run after a process has ended during a run', async () => {
    pool = poolOf(1);
    const first = await acquire('a');
    const waiting = acquire('a');
    await first.kill('it has ended');
    pool.release(first);
    expect(await waiting).not.toBe(first);
    expect(sdk.most).toBe(1);
  });
});

describe('a run that waits', () => {
  it('rejects with the reason when it is aborted, and the next one is served', async () => {
    pool = poolOf(1);
    const first = await acquire('a');
    const leaving = new AbortController();
    const aborted = pool.acquire('b', leaving.signal);
    const next = acquire('c');
    leaving.abort(new Error('left'));
    await expect(aborted).rejects.toThrow('left');
    expect(pool.counts.waiting).toBe(1);
    pool.release(first);
    expect((await next).organizationId).toBe('c');
  });

  it('rejects at once if its signal has aborted before', async () => {
    await expect(pool.acquire('a', AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    expect([pool.counts, sdk.opened]).toEqual([{ busy: 0, idle: 0, waiting: 0 }, 0]);
  });

  it('leaves its process to the next run of the organization if it is aborted during the start', async () => {
    const leaving = new AbortController();
    const aborted = pool.acquire('a', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(aborted).rejects.toThrow('left');
    await until(() => pool.counts.idle === 1, 'the process has started');
    await acquire('a');
    expect(sdk.opened).toBe(1);
  });
});

describe('a start that fails', () => {
  it('fails only its own run, and leaves no process and no folder', async () => {
    pool = poolOf(1);
    sdk.broken = 1;
    const [broken, other, third] = [acquire('a'), acquire('a'), acquire('b')];
    await expect(broken).rejects.toBeInstanceOf(AgentLoopFailure);
    pool.release(await other);
    expect((await third).organizationId).toBe('b');
    expect([sdk.opened, sdk.most]).toEqual([3, 1]);
    await until(() => readdirSync(root).length === 1, 'only the folder of the one that runs is left');
  });
});

describe('a process', () => {
  it(`ends after ${MAX_RUNS} runs`, async () => {
    const first = await acquire('a');
    for (let run = 1; run < MAX_RUNS; run += 1) {
      pool.release(first);
      expect(await acquire('a')).toBe(first);
    }
    pool.release(first);
    expect(first.hasEnded).toBe(true);
    expect(await acquire('a')).not.toBe(first);
    await until(() => sdk.open.size === 1, 'it has ended');
  });

  it('ends after IDLE_MS without a run', async () => {
    const process = await acquire('a');
    await clock.advance(2 * IDLE_MS);
    pool.release(process);
    await clock.advance(IDLE_MS - 1);
    expect(await acquire('a')).toBe(process);
    await clock.advance(1);
    pool.release(process);
    await clock.advance(IDLE_MS - 1);
    expect(process.hasEnded).toBe(false);
    await clock.advance(1);
    expect([process.hasEnded, pool.counts.idle]).toEqual([true, 0]);
    await until(() => readdirSync(root).length === 0, 'its folder is removed');
  });
});

describe('closing', () => {
  it('kills idle and busy processes, and keeps none that is released later', async () => {
    const [busy, idle] = [await acquire('a'), await acquire('b')];
    pool.release(idle);
    await pool.close();
    expect([busy.hasEnded, idle.hasEnded, sdk.open.size, clock.pending()]).toEqual([true, true, 0, 0]);
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
    pool.release(busy);
    expect(pool.counts).toEqual({ busy: 0, idle: 0, waiting: 0 });
  });

  it('kills a process that is starting', async () => {
    const starting = acquire('a');
    await pool.close();
    expect((await starting).hasEnded).toBe(true);
    await until(() => sdk.open.size === 0 && readdirSync(root).length === 0, 'it has ended');
  });
});
