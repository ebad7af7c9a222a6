import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './lasting-port.js';
import { ServerProgram } from './server-program.js';
import { until } from './until.js';

const MASTER = 'main';

/** Redis servers of a test's own. */
export class RedisServers {
  private constructor(
    /** The `REDIS_URL` of a service. */
    readonly url: string,
    private readonly programs: readonly ServerProgram[],
    private readonly folder: string,
  ) {}

  static async single(): Promise<RedisServers> {
    const folder = newFolder();
    const server = await startServer(folder);
    return new RedisServers(`redis://127.0.0.1:${server.port}`, [server], folder);
  }

  /** A master, its replica and a sentinel that replaces the one by the other within a few seconds. */
  static async sentinel(): Promise<RedisServers> {
    const folder = newFolder();
    const master = await startServer(folder);
    const replica = await startServer(folder, '--replicaof', '127.0.0.1', String(master.port));
    await until(
      async () => (await infoOf(replica.port, 'replication')).includes('master_link_status:up'),
      'the replica has a copy',
    );
    const port = await freePort();
    const file = join(folder, 'sentinel.conf');
    const settings = [
      `port ${port}`,
      `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 1`,
      `sentinel down-after-milliseconds ${MASTER} 2000`,
      `sentinel failover-timeout ${MASTER} 5000`,
    ];
    writeFileSync(file, settings.join('\n'));
    const sentinel = await ServerProgram.start(port, 'redis-server', file, '--sentinel');
    const knowsReplica = async (): Promise<boolean> => (await infoOf(port, 'sentinel')).includes('slaves=1');
    await until(knowsReplica, 'the sentinel knows the replica', { everyMs: 50 });
    return new RedisServers(`redis+sentinel://127.0.0.1:${port}/${MASTER}/0`, [master, replica, sentinel], folder);
  }

  static async cluster(): Promise<RedisServers> {
    const folder = newFolder();
    const nodes = await Promise.all(
      [1, 2, 3].map(async (node) => {
        const busPort = String(await freePort());
        const own = ['--cluster-enabled', 'yes', '--cluster-config-file', `${node}.conf`, '--cluster-port', busPort];
        return startServer(folder, ...own);
      }),
    );
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], { stdio: 'pipe' });
    for (const { port } of nodes) {
      const client = new Redis(port);
      await until(async () => (await client.cluster('INFO')).includes('cluster_state:ok'), 'the cluster works');
      client.disconnect();
    }
    return new RedisServers(`redis+cluster://${addresses.join(',')}`, nodes, folder);
  }

  /** The ports of the servers, the first master's first. */
  get ports(): readonly number[] {
    return this.programs.map(({ port }) => port);
  }

  async killFirst(): Promise<void> {
    await this.programs[0]?.stop();
  }

  /** Makes servers, by default all of them, hang or go on. */
  pause(isPaused: boolean, ports = this.ports): void {
    for (const program of this.programs) if (ports.includes(program.port)) program.pause(isPaused);
  }

  /** Makes a cluster fail, and work again: it serves no key while one slot has no node. */
  async coverSlots(all: boolean): Promise<void> {
    for (const [index, port] of this.ports.entries()) {
      const client = new Redis(port);
      if (!all) await client.cluster('DELSLOTS', 0);
      else if (index === 0) await client.cluster('ADDSLOTS', 0);
      const state = `cluster_state:${all ? 'ok' : 'fail'}`;
      await until(async () => (await client.cluster('INFO')).includes(state), state, { everyMs: 50 });
      client.disconnect();
    }
  }

  /** Makes the first server refuse all writes, and take them again. */
  async fill(isFull: boolean): Promise<void> {
    const client = new Redis(this.ports[0] ?? 0);
    await client.config('SET', 'maxmemory', isFull ? 1 : 0);
    client.disconnect();
  }

  /** The names of the clients of the first server, sorted; a test's own connections have none. */
  async clientNames(): Promise<string[]> {
    const client = new Redis(this.ports[0] ?? 0);
    const list = String(await client.client('LIST'));
    client.disconnect();
    return [...list.matchAll(/ name=(\S+)/g)].map(([, name = '']) => name).sort();
  }

  async close(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.stop()));
    rmSync(this.folder, { recursive: true });
  }
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'redis-'));
}

async function startServer(folder: string, ...options: readonly string[]): Promise<ServerProgram> {
  const port = await freePort();
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  return ServerProgram.start(port, 'redis-server', ...own, '--repl-diskless-sync-delay', '0', ...options);
}

async function infoOf(port: number, section: string): Promise<string> {
  const client = new Redis(port);
  const info = await client.info(section);
  client.disconnect();
  return info;
}
