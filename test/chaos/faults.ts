import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster/cluster.ts';
import type { Part } from './cluster/outages.ts';
import type { Proxy } from './cluster/proxy.ts';
import type { Service } from './cluster/service.ts';
import type { Random } from './random.ts';

const PROCESS_FAULTS = { kill: 4, suspend: 4, restart: 4, deploy: 2 };
const SERVER_FAULTS = {
  'cut PostgreSQL': 3,
  'stall PostgreSQL': 2,
  'delay PostgreSQL': 2,
  'fail over PostgreSQL': 2,
  'cut Redis': 3,
  'stall Redis': 2,
  'delay Redis': 2,
  'fail over Redis': 2,
  'empty Redis': 1,
};
/** The second process of each role lives long, so that its memory can be watched. */
const SPARES_THE_SECOND = 0.95;
/** Deploys, which replace it too, come in the first half of each such period. */
const DEPLOYS_EVERY_MS = 10 * 60_000;

export type FaultsMade = Readonly<Record<string, number>>;

/** Breaks the cluster in two lanes at a time, processes and servers, in an order that the seed decides. */
export class Faults {
  readonly made: Record<string, number> = {};
  private readonly cluster: Cluster;
  private readonly processes: Random;
  private readonly servers: Random;
  private readonly writeLine: (line: string) => void;
  private readonly began = performance.now();

  constructor(cluster: Cluster, random: Random, writeLine: (line: string) => void) {
    this.cluster = cluster;
    this.processes = random.fork('processes');
    this.servers = random.fork('servers');
    this.writeLine = writeLine;
  }

  async strikeUntil(isOver: () => boolean): Promise<void> {
    await Promise.all([this.lane(isOver, () => this.strikeProcess()), this.lane(isOver, () => this.strikeServer())]);
    await this.cluster.postgres.settled();
  }

  private async lane(isOver: () => boolean, strike: () => Promise<void>): Promise<void> {
    while (!isOver()) await strike();
  }

  private async strikeProcess(): Promise<void> {
    const random = this.processes;
    await sleep(random.between(2000, 9000));
    const chosen = random.weighted(PROCESS_FAULTS);
    const isForDeploys = (performance.now() - this.began) % DEPLOYS_EVERY_MS < DEPLOYS_EVERY_MS / 2;
    const kind = chosen === 'deploy' && !isForDeploys ? 'restart' : chosen;
    const [first, second] = random.chance(0.6) ? this.cluster.apis : this.cluster.workers;
    const service = random.chance(SPARES_THE_SECOND) || kind === 'suspend' ? first : second;
    if (!service) throw new Error('There are two processes of each role');
    const pauseMs = random.between(200, 4000);
    const suspendedMs = random.between(200, 12_000);
    if (kind === 'deploy') await this.deploy();
    else
      await this.during('processes', `${kind} ${service.name}`, () => this.strike(kind, service, pauseMs, suspendedMs));
  }

  private async strike(
    kind: 'kill' | 'suspend' | 'restart',
    service: Service,
    pauseMs: number,
    suspendedMs: number,
  ): Promise<void> {
    switch (kind) {
      case 'suspend':
        return service.suspend(suspendedMs);
      case 'kill':
        await service.kill();
        break;
      case 'restart':
        await service.stop();
        break;
      default:
        kind satisfies never;
    }
    await sleep(pauseMs);
    // The time that its start takes is none of the outage.
    void service.start(this.cluster.current);
  }

  /** Replaces one process after the other, by the other release where there is one. */
  private async deploy(): Promise<void> {
    const { cluster } = this;
    cluster.current =
      cluster.former !== undefined && cluster.current === cluster.build ? cluster.former : cluster.build;
    await this.during('processes', `deploy ${cluster.current === cluster.build ? 'forward' : 'back'}`, async () => {
      for (const service of cluster.services) {
        await service.stop();
        await service.start(cluster.current);
      }
    });
  }

  private async strikeServer(): Promise<void> {
    const random = this.servers;
    await sleep(random.between(2000, 8000));
    const kind = random.weighted(SERVER_FAULTS);
    const forMs = random.chance(0.25) ? random.between(5000, 12_000) : random.between(200, 5000);
    const held = random.of(['answers', 'everything'] as const);
    const delayMs = random.between(20, 800);
    const part: Part = kind.endsWith('PostgreSQL') ? 'PostgreSQL' : 'Redis';
    const { proxy } = part === 'PostgreSQL' ? this.cluster.postgres : this.cluster.redis;
    const work = await this.workOf(kind, { forMs, held, delayMs, proxy });
    if (work) await this.during(part, `${kind} (${Math.round(forMs)} ms)`, work, kind);
  }

  /** @returns undefined when the fault cannot be made now without losing what was acknowledged */
  private async workOf(
    kind: keyof typeof SERVER_FAULTS,
    { forMs, held, delayMs, proxy }: { forMs: number; held: 'answers' | 'everything'; delayMs: number; proxy: Proxy },
  ): Promise<(() => Promise<void>) | undefined> {
    const { postgres, redis } = this.cluster;
    const restoredAfter = async (): Promise<void> => {
      await sleep(forMs);
      proxy.restore();
    };
    switch (kind) {
      case 'cut PostgreSQL':
      case 'cut Redis':
        return () => (proxy.cut(), restoredAfter());
      case 'stall PostgreSQL':
      case 'stall Redis':
        return () => (proxy.stall(held), restoredAfter());
      case 'delay PostgreSQL':
      case 'delay Redis':
        return () => (proxy.delay(delayMs), restoredAfter());
      case 'fail over PostgreSQL':
        return (await postgres.canFailOver()) ? () => postgres.failOver(forMs) : undefined;
      case 'fail over Redis':
        return (await redis.canFailOver()) ? () => redis.failOver(forMs) : undefined;
      case 'empty Redis':
        return () => redis.empty();
      default:
        return kind satisfies never;
    }
  }

  private async during(part: Part, what: string, work: () => Promise<void>, name = what): Promise<void> {
    const outage = this.cluster.outages.begin(part, what);
    await this.note(name, work, what);
    this.cluster.outages.end(outage);
  }

  private async note(name: string, work: () => Promise<void>, line = name): Promise<void> {
    this.writeLine(line);
    await work();
    this.made[name] = (this.made[name] ?? 0) + 1;
  }
}
