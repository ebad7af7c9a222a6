import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { until } from '../until.ts';
import { freePort } from '../../support/lasting-port.ts';
import type { Programs } from './programs.ts';
import { Proxy } from './proxy.ts';

interface Node {
  readonly name: string;
  readonly port: number;
  child: ChildProcess;
}

/** A Redis with a replica, behind a proxy that follows the primary. Nothing is written to disk. */
export class RedisPair {
  readonly proxy: Proxy;
  private readonly program: string;
  private readonly folder: string;
  private primary: Node;
  private replica: Node;

  private constructor(program: string, folder: string, proxy: Proxy, primary: Node, replica: Node) {
    this.program = program;
    this.folder = folder;
    this.proxy = proxy;
    this.primary = primary;
    this.replica = replica;
  }

  static async start(programs: Programs, folder: string): Promise<RedisPair> {
    const [one, two] = [await freePort(), await freePort()];
    const primary = { name: 'one', port: one, child: serve(programs.redis, folder, 'one', one) };
    const replica = { name: 'two', port: two, child: serve(programs.redis, folder, 'two', two, one) };
    const pair = new RedisPair(programs.redis, folder, await Proxy.start(one), primary, replica);
    await until(() => pair.canFailOver(), 'the replica of Redis follows');
    return pair;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.proxy.port}`;
  }

  async canFailOver(): Promise<boolean> {
    const replication = await this.ask(this.primary, (redis) => redis.info('replication')).catch(() => '');
    return /slave0:.*state=online/.test(replication);
  }

  /** The primary dies; its replica, which may lack its last writes, takes over. */
  async failOver(downMs: number): Promise<void> {
    this.proxy.cut();
    this.primary.child.kill('SIGKILL');
    await once(this.primary.child, 'exit');
    await this.ask(this.replica, (redis) => redis.replicaof('NO', 'ONE'));
    [this.primary, this.replica] = [this.replica, this.primary];
    await sleep(downMs);
    this.proxy.aim(this.primary.port);
    this.proxy.restore();
    const { name, port } = this.replica;
    this.replica.child = serve(this.program, this.folder, name, port, this.primary.port);
  }

  async empty(): Promise<void> {
    await this.ask(this.primary, (redis) => redis.flushall());
  }

  /** Past the proxy. */
  info(section: string): Promise<string> {
    return this.ask(this.primary, (redis) => redis.info(section));
  }

  async close(): Promise<void> {
    await this.proxy.close();
    for (const { child } of [this.primary, this.replica]) child.kill('SIGKILL');
  }

  private async ask<Answer>({ port }: Node, question: (redis: Redis) => Promise<Answer>): Promise<Answer> {
    const redis = new Redis({ port, lazyConnect: true, retryStrategy: null });
    redis.on('error', () => undefined);
    await redis.connect();
    try {
      return await question(redis);
    } finally {
      redis.disconnect();
    }
  }
}

function serve(program: string, folder: string, name: string, port: number, primary?: number): ChildProcess {
  const follow = primary === undefined ? [] : ['--replicaof', '127.0.0.1', String(primary)];
  const log = openSync(join(folder, `redis-${name}.log`), 'a');
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--repl-diskless-sync-delay', '0'];
  return spawn(program, [...options, ...follow], { cwd: folder, stdio: ['ignore', log, log] });
}
