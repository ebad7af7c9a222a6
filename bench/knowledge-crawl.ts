import { setTimeout as sleep } from 'node:timers/promises';
import { percentile, round, sum } from './figures.ts';
import type { LoadClient } from './load-client.ts';
import type { SliceResult } from './load-orders.ts';
import type { CrawlPlan } from './plan.ts';
import { createKey, inParallel, post } from './provision.ts';
import type { Environment } from './processes.ts';
import { INSTANT } from './script.ts';

export interface CrawlFigures {
  readonly pages: number;
  readonly chunks: number;
  /** From the request to the end of the crawl, for agents without knowledge. */
  readonly crawls: readonly { readonly seconds: number; readonly pagesPerSecond: number }[];
  /** From the request until every chunk has a vector; null if search uses only keywords. */
  readonly embeddedSeconds: number | null;
  /** First tokens of streamed runs, alone and during crawls; `p99Ratios` has one ratio for each pair of slices. */
  readonly firstToken: {
    readonly alone: Spread;
    readonly besideCrawls: Spread;
    readonly p99Ratio: number;
    readonly p99Ratios: readonly number[];
  };
}

interface Spread {
  readonly runs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface CrawledService {
  readonly origin: string;
  readonly pid: number;
  readonly env: Environment;
  readonly siteOrigin: string;
}

interface WebsiteRead {
  readonly sync: {
    readonly state: string;
    readonly lastError: string | null;
    readonly pages: { readonly indexed: number };
  };
  readonly chunks: number;
}

/** Interval of status requests: each costs the service as much as a tenth of a page. */
const POLL_MS = 100;
const MAX_CRAWL_MS = 120_000;
/** Concurrent runs during the crawl. */
const AT_ONCE = 4;
/** After this time the crawl fetches, parses and stores pages. */
const CRAWL_LEAD_MS = 500;

/** Measures crawls of a local site, and how they slow the runs of other agents on the same machine. */
export async function measureCrawls(
  load: LoadClient,
  service: CrawledService,
  plan: CrawlPlan,
  writeLine: (line: string) => void,
): Promise<CrawlFigures> {
  const key = await createKey(service.env);
  const agent = (name: string): Promise<string> =>
    post(service.origin, key, '/v1/agents', { name, provider: { type: 'anthropic' } });
  const crawler = new Crawler(service, key);

  writeLine('crawls, one after the other');
  await crawler.crawl(await agent('Warm-up'));
  const crawls: { seconds: number; chunks: number }[] = [];
  const embeds = await searchesByMeaning(service.origin);
  let embeddedSeconds: number | null = null;
  for (let number = 0; number < plan.rounds; number += 1) {
    const agentId = await agent(`Crawled ${number}`);
    const began = performance.now();
    crawls.push(await crawler.crawl(agentId));
    if (!embeds) continue;
    await crawler.untilEmbedded(agentId);
    embeddedSeconds = round((performance.now() - began) / 1000, 2);
  }

  const talking = async (name: string): Promise<() => Promise<SliceResult>> => {
    const assistant = await agent(name);
    const threads = await inParallel(plan.threads, () =>
      post(service.origin, key, '/v1/threads', { assistant_id: assistant }),
    );
    const target = `crawl/${service.pid}/${name}`;
    await load.open(target, { kind: 'service', origin: service.origin, pid: service.pid, key, threads });
    return () =>
      load.slice({
        target,
        form: 'streamed',
        script: INSTANT,
        concurrency: AT_ONCE,
        seconds: plan.seconds,
        maxRuns: plan.runsOfASlice,
      });
  };
  await (
    await talking('Warm-up')
  )();
  const others = [await agent('Beside 1'), await agent('Beside 2')];
  const alone: SliceResult[] = [];
  const beside: SliceResult[] = [];
  for (let slice = 1; slice <= plan.slices; slice += 1) {
    writeLine(`first tokens alone and beside crawls, ${slice} of ${plan.slices}`);
    const [first, second] = [await talking(`Alone ${slice}`), await talking(`Beside a crawl ${slice}`)];
    alone.push(await first());
    const crawling = crawler.keepCrawling(others);
    await sleep(CRAWL_LEAD_MS);
    beside.push(await second());
    await crawling.stop();
  }
  const spreads = { alone: spreadOf(alone), besideCrawls: spreadOf(beside) };
  const p99Ratios = alone.map((slice, at) => ratioOf(spreadOf([slice]), spreadOf(beside.slice(at, at + 1))));
  return {
    pages: plan.pages,
    chunks: crawls.at(-1)?.chunks ?? 0,
    crawls: crawls.map(({ seconds }) => ({
      seconds: round(seconds, 2),
      pagesPerSecond: round(plan.pages / seconds, 0),
    })),
    embeddedSeconds,
    firstToken: { ...spreads, p99Ratio: ratioOf(spreads.alone, spreads.besideCrawls), p99Ratios },
  };
}

class Crawler {
  private readonly service: CrawledService;
  private readonly key: string;

  constructor(service: CrawledService, key: string) {
    this.service = service;
    this.key = key;
  }

  /** @throws Error if the crawl does not succeed */
  async crawl(agentId: string): Promise<{ seconds: number; chunks: number }> {
    const began = performance.now();
    await this.put(agentId);
    for (;;) {
      const { sync, chunks } = await this.read(agentId);
      const seconds = (performance.now() - began) / 1000;
      if (sync.state === 'SUCCESS') return { seconds, chunks };
      if (sync.state !== 'IN_PROGRESS') throw new Error(`The crawl ended as ${sync.state}: ${sync.lastError ?? ''}`);
      if (seconds * 1000 > MAX_CRAWL_MS) throw new Error(`The crawl takes too long: ${JSON.stringify(sync)}`);
      await sleep(POLL_MS);
    }
  }

  /** Chunks are embedded in the order of their ids, so when the last page has a vector, all have. */
  async untilEmbedded(agentId: string): Promise<void> {
    const until = performance.now() + MAX_CRAWL_MS;
    while (performance.now() < until) {
      const { results } = (await this.ask('POST', agentId, 'search', {
        query: 'harbour pilot tide berth crane cargo',
        maxResults: 50,
        scoreThreshold: 0,
      })) as { results: readonly { readonly semanticScore: number | null }[] };
      if (results.length > 0 && results.every(({ semanticScore }) => semanticScore !== null)) return;
      await sleep(POLL_MS);
    }
    throw new Error('The chunks were not embedded in time');
  }

  /** Crawls the site for one agent after the other until it is stopped. */
  keepCrawling(agents: readonly string[]): { stop(): Promise<void> } {
    let stopped = false;
    const work = async (): Promise<void> => {
      for (let next = 0; !stopped; next += 1) {
        const agentId = agents[next % agents.length] ?? '';
        // Each crawl fetches, parses and indexes all pages.
        await this.put(agentId, []);
        await this.crawl(agentId);
      }
    };
    const working = work();
    return {
      stop: () => {
        stopped = true;
        return working;
      },
    };
  }

  private async put(agentId: string, roots: readonly string[] = [`${this.service.siteOrigin}/`]): Promise<void> {
    await this.ask('PUT', agentId, 'website', { configs: roots.map((rootUrl) => ({ rootUrl })) });
  }

  private async read(agentId: string): Promise<WebsiteRead> {
    return (await this.ask('GET', agentId, 'website')) as WebsiteRead;
  }

  private async ask(method: string, agentId: string, route: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${this.service.origin}/v1/agents/${agentId}/knowledge-bases/${route}`, {
      method,
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${route} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  }
}

async function searchesByMeaning(origin: string): Promise<boolean> {
  const { knowledgeSearch } = (await (await fetch(`${origin}/health/ready`)).json()) as { knowledgeSearch: string };
  return knowledgeSearch === 'hybrid';
}

function spreadOf(slices: readonly SliceResult[]): Spread {
  const firstTokens = slices.flatMap((slice) => slice.firstTokens);
  if (sum(firstTokens) === 0) throw new Error('No run was made');
  return {
    runs: firstTokens.length,
    p50Ms: round(percentile(firstTokens, 0.5), 2),
    p99Ms: round(percentile(firstTokens, 0.99), 2),
  };
}

function ratioOf(alone: Spread, beside: Spread): number {
  return round(beside.p99Ms / alone.p99Ms, 2);
}
