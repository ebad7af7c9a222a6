import { Checks, growthOf } from './checks.ts';
import { Cluster } from './cluster/cluster.ts';
import type { Programs } from './cluster/programs.ts';
import type { Service } from './cluster/service.ts';
import { Api } from './customers/api.ts';
import { type Agents, Customer } from './customers/customer.ts';
import { Librarian } from './customers/librarian.ts';
import { cancelledAfterMs } from './customers/turns.ts';
import { Faults } from './faults.ts';
import { Findings } from './findings.ts';
import { Ledger } from './ledger.ts';
import { type Asked, ModelProvider } from './outside/model-provider.ts';
import { Receiver } from './outside/receiver.ts';
import { Site } from './outside/site.ts';
import { ToolServer } from './outside/tool-server.ts';
import { Random } from './random.ts';
import type { Report } from './report.ts';

export interface ChaosOptions {
  readonly programs: Programs;
  readonly folder: string;
  readonly build: string;
  readonly former: string | undefined;
  readonly minutes: number;
  readonly seed: number;
  readonly customers: number;
  readonly writeLine: (line: string) => void;
}

const SAMPLE_MS = 5000;
const ALL_EVENTS = ['run.completed', 'run.requires_action', 'run.failed', 'run.cancelled', 'run.timed_out'];

/** One run, from the start of the servers to the report. */
export class ChaosRun {
  private readonly options: ChaosOptions;
  private readonly findings: Findings;
  private readonly ledger = new Ledger();
  private readonly closing: (() => Promise<void>)[] = [];

  constructor(options: ChaosOptions) {
    this.options = options;
    this.findings = new Findings(options.writeLine);
  }

  async run(): Promise<Report> {
    const { options, findings, ledger } = this;
    const random = new Random(options.seed);
    const began = Date.now();
    const outside = await this.startOutside(random);
    const cluster = await this.startCluster(outside);
    const key = await this.key(cluster);
    const api = new Api(cluster, key, random.fork('replicas'), findings);
    const agents = await this.provision(api, outside);
    options.writeLine('the cluster is ready; faults begin');

    const end = performance.now() + options.minutes * 60_000;
    const isOver = (): boolean => performance.now() > end;
    const outcomes: Record<string, number> = {};
    const librarian = new Librarian(api, ledger, agents, outside.site);
    const faults = new Faults(cluster, random, options.writeLine);
    const samples = setInterval(() => void this.sample(cluster.services), SAMPLE_MS);
    const customers = Array.from({ length: options.customers }, (_, index) => {
      const name = `c${index}`;
      return new Customer({ name, api, ledger, agents, random: random.fork(name), outcomes }).talkUntil(isOver);
    });
    await Promise.all([
      faults.strikeUntil(isOver),
      librarian.uploadUntil(isOver),
      librarian.crawlUntil(isOver),
      ...customers,
    ]);
    options.writeLine('faults are over; checking what is stored');
    const { receiver, tools } = outside;
    await new Checks({ cluster, api, ledger, agents, librarian, receiver, tools, findings }).all();
    clearInterval(samples);
    return {
      seed: options.seed,
      minutes: options.minutes,
      seconds: Math.round((Date.now() - began) / 1000),
      former: options.former ?? null,
      logs: options.folder,
      faults: faults.made,
      outages: cluster.outages.all.map(({ part, what, from, to }) => ({
        part,
        what,
        ms: Math.round((to ?? from) - from),
      })),
      statuses: api.statuses,
      outcomes,
      threads: ledger.threads.size,
      messages: [...ledger.threads.values()].reduce((sum, { turns }) => sum + turns.length, 0),
      deletions: [...ledger.threads.values()].filter(({ deletion }) => deletion === 'acknowledged').length,
      documents: ledger.documents.size,
      crawls: librarian.crawls,
      payments: tools.payments.size,
      modelCalls: outside.models.calls,
      webhooks: receiver.received,
      cancelledAfterMs,
      generations: cluster.services.flatMap(({ generations }) =>
        generations.map((generation) => ({
          ...generation,
          samples: generation.samples.length,
          growthMiB: growthOf(generation)?.total ?? null,
        })),
      ),
      counts: findings.counts,
      findings: findings.kept,
    };
  }

  async close(): Promise<void> {
    for (const close of this.closing.reverse()) await close().catch(() => undefined);
  }

  private async startOutside(random: Random): Promise<Outside> {
    const models = await ModelProvider.start((asked) => this.checkHistory(asked));
    const tools = await ToolServer.start();
    const site = await Site.start();
    const receiver = await Receiver.start(random.fork('receiver'));
    for (const server of [models, tools, site, receiver]) this.closing.push(() => server.close());
    return { models, tools, site, receiver };
  }

  private async startCluster({ models, tools, site, receiver }: Outside): Promise<Cluster> {
    const { programs, folder, build, former } = this.options;
    const cluster = await Cluster.start({
      ...{ programs, folder, build, former, findings: this.findings },
      environment: {
        ...models.environment,
        EGRESS_ALLOW: [tools.host, site.host, receiver.host].join(','),
      },
    });
    this.closing.push(() => cluster.close());
    return cluster;
  }

  private async key(cluster: Cluster): Promise<string> {
    const { id = '' } = await cluster.operate('org', 'create', '--name', 'chaos', '--agent-limit', '100');
    const made = await cluster.operate('key', 'create', '--org', id, '--capabilities', 'chat,manageAgents');
    return made['key'] ?? '';
  }

  private async provision(api: Api, { tools, receiver }: Outside): Promise<Agents> {
    const agent = async (name: string, more: object = {}): Promise<string> => {
      const body = { name, provider: { type: 'anthropic' }, ...more };
      return (await api.until<{ id: string }>('POST', '/v1/agents', { body })).body.id;
    };
    const withTool = async (name: string, more: object = {}): Promise<string> => {
      const id = await agent(name, more);
      const integration = {
        type: 'custom-mcp',
        app: `Till ${name}`,
        url: `http://${tools.host}/mcp`,
        transportType: 'streamableHttp',
      };
      const path = `/v1/agents/${id}/tool-integrations`;
      const body = { ...integration, auth: { type: 'none' } };
      const added = await api.until<{ status: string }>('POST', path, { body });
      if (added.body.status !== 'connected')
        throw new Error(`The tools are not connected: ${JSON.stringify(added.body)}`);
      return id;
    };
    const asking = { tools: { requireApprovalBeforeToolCalls: true } };
    const webhook = { url: `http://${receiver.host}/events`, events: ALL_EVENTS };
    const created = await api.until('POST', '/v1/webhooks', { body: webhook });
    if (created.status !== 201) throw new Error(`The webhook was refused: ${JSON.stringify(created.body)}`);
    return {
      talks: [await agent('Talks 1'), await agent('Talks 2'), await agent('Talks 3')],
      pays: [await withTool('Pays 1'), await withTool('Pays 2')],
      asks: [await withTool('Asks 1', asking)],
      knows: await agent('Knows'),
      reads: await agent('Reads'),
    };
  }

  /** The model is sent every acknowledged message of the thread, in order. */
  private checkHistory({ history, script, body }: Asked): void {
    const numbers = history.map(({ number }) => number);
    const missing = this.ledger.acceptedBefore(script).filter((number) => !numbers.includes(number));
    const isMixed =
      numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)) ||
      history.some(({ thread }) => thread !== script.thread);
    if (missing.length > 0 || isMixed)
      this.findings.add('history', 'The model was not sent the messages of the thread in order', {
        ...{ thread: script.thread, number: script.number, numbers, missing },
      });
    if (script.attached !== undefined && !body.includes(script.attached))
      this.findings.add('attachment', 'The model was not sent an attachment', {
        thread: script.thread,
        number: script.number,
      });
  }

  private async sample(services: readonly Service[]): Promise<void> {
    await Promise.all(services.map((service) => service.sample()));
  }
}

interface Outside {
  readonly models: ModelProvider;
  readonly tools: ToolServer;
  readonly site: Site;
  readonly receiver: Receiver;
}
