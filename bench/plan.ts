import { INSTANT, type ReplyScript } from './script.ts';
import type { TargetKind, RunForm } from './targets.ts';
import type { Turns } from './turns.ts';

/** One line of the throughput table: the same load on several targets. */
export interface Cell {
  readonly form: RunForm;
  readonly concurrency: number;
  readonly script: ReplyScript;
  /** Duration of a round on each target. */
  readonly seconds: number;
  readonly rounds: number;
  /** Runs of a round; undefined for as many as its time allows. */
  readonly runs?: number;
}

export interface Pass {
  readonly targets: readonly TargetKind[];
  readonly warmUpSeconds: number;
  readonly throughput: readonly Cell[];
  readonly firstToken: readonly Cell[];
  readonly holds: readonly { readonly streams: number; readonly script: ReplyScript }[];
  /** Threads of the service and of the bare server, which the runs use in turn. */
  readonly threads: number;
}

/** Runs on threads of several sizes, in each round on every size. */
export interface Growth {
  readonly sizes: readonly { readonly messages: number; readonly threads: number }[];
  readonly concurrencies: readonly number[];
  readonly rounds: number;
  readonly warmUpSeconds: number;
  /** Longest duration and most runs of a round: threads must not grow much. */
  readonly seconds: number;
  readonly maxRuns: number;
}

export interface Rejoin {
  /** Reads of ended runs. */
  readonly runs: number;
  readonly warmUpRuns: number;
  readonly script: ReplyScript;
  readonly concurrencies: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Active runs with a second reader. */
  readonly follow: { readonly runs: number; readonly concurrency: number; readonly script: ReplyScript };
}

/** Runs that call tools, and runs of agents with tools. */
export interface ToolRuns {
  /** Agents with a separate integration, whose connections are open during the runs. */
  readonly called: number;
  readonly streaming: number;
  /** Runs of each kind; the kinds alternate. */
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** Runs on agents that the process has not used, one for each. */
  readonly coldRuns: number;
  readonly threads: number;
  readonly loaded: { readonly concurrency: number; readonly seconds: number; readonly rounds: number };
  /** Open connections to servers of other organizations while memory is measured, without and with a stream. */
  readonly idle: { readonly json: readonly number[]; readonly notifying: readonly number[] };
  readonly embedded: boolean;
}

/** Runs of agents with hooks, compared with the same runs without. */
export interface HookRuns {
  /** Runs of each kind; the kinds alternate. */
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly agents: number;
  readonly threads: number;
  readonly embedded: boolean;
}

/** Runs of agents with memory, compared with runs of agents without. */
export interface MemoryRuns {
  /** Runs of each kind; the kinds alternate. */
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly agents: number;
  readonly threads: number;
  /** Memories of one user for each agent that has any. */
  readonly memories: number;
  readonly embedded: boolean;
}

/** Runs with session passes, compared with runs with an API key. */
export interface SessionRuns {
  /** Runs of each kind; the kinds alternate. */
  readonly rounds: number;
  readonly warmUpRounds: number;
  readonly agents: number;
  /** Number of sessions: each may send 60 requests a minute. */
  readonly threads: number;
  /** Requests of each kind; the kinds alternate. */
  readonly requests: number;
  readonly embedded: boolean;
}

/** Crawls of a local site, and concurrent runs. */
export interface CrawlPlan {
  readonly pages: number;
  readonly rounds: number;
  /** Number of slices of runs whose first tokens are measured: as many alone as during a crawl, alternating. */
  readonly slices: number;
  readonly seconds: number;
  readonly threads: number;
  /** Below an agent's limit for a minute; each slice has a separate agent. */
  readonly runsOfASlice: number;
  readonly embedded: boolean;
}

/** Searches of knowledge, one at a time. */
export interface SearchPlan {
  /** Chunks of the searched agent, and of another one. */
  readonly postgresChunks: number;
  /** 0 to skip the embedded database. */
  readonly embeddedChunks: number;
  /** Below an agent's limit for a minute, twice. */
  readonly searches: number;
}

/** Files uploaded to one agent at once. */
export interface UploadPlan {
  readonly uploads: number;
  readonly embedded: boolean;
}

/** The values of `--only`. */
/** Traces that are stored while lists are read, that a worker publishes, and that the purge deletes. */
export interface TracesPlan {
  readonly stored: number;
  readonly requests: number;
  readonly walkPages: number;
  readonly published: number;
  /** Traces published in embedded mode; 0 for none. */
  readonly embedded: number;
  readonly purged: number;
}

/** Deliveries to one endpoint that responds at once; `embedded`: those of the embedded default, 0 for none. */
export interface WebhooksPlan {
  readonly deliveries: number;
  readonly embedded: number;
}

export const PARTS = [
  'throughput',
  'growth',
  'rejoin',
  'holds',
  'tools',
  'hooks',
  'memory',
  'sessions',
  'knowledge',
  'search',
  'quality',
  'uploads',
  'traces',
  'webhooks',
  'starts',
  'kept-memory',
  'background',
  'unused',
  'claude-agent',
] as const;
export type BenchPart = (typeof PARTS)[number];

export interface StartPlan {
  readonly rounds: number;
}

/** Streamed runs, after which memory is measured. */
export interface KeptMemoryPlan {
  readonly runs: number;
  readonly threads: number;
}

/** Background runs that are all open at once. */
export interface BackgroundPlan {
  readonly runs: number;
  /** A reply that takes longer than starting all runs. */
  readonly script: ReplyScript;
}

/** Runs of agents that do not use what the service has. */
export interface UnusedPlan {
  readonly contexts: UnusedTurns;
  readonly tools: UnusedTurns;
}

export interface UnusedTurns extends Turns {
  /** Of each target. */
  readonly threads: number;
}

export interface ClaudeAgentPlan {
  readonly rounds: number;
}

export interface Plan {
  readonly postgres: Pass;
  readonly embedded: Pass | null;
  readonly growth: Growth | null;
  readonly rejoin: Rejoin | null;
  readonly tools: ToolRuns | null;
  readonly hooks: HookRuns | null;
  readonly memory: MemoryRuns | null;
  readonly sessions: SessionRuns | null;
  readonly knowledge: CrawlPlan | null;
  readonly search: SearchPlan | null;
  /** Questions about real documents. Runs only if it is named, because it downloads packages of Debian. */
  readonly quality: boolean;
  readonly traces: TracesPlan | null;
  readonly uploads: UploadPlan | null;
  readonly webhooks: WebhooksPlan | null;
  readonly starts: StartPlan | null;
  readonly keptMemory: KeptMemoryPlan | null;
  readonly background: BackgroundPlan | null;
  readonly unused: UnusedPlan | null;
  readonly claudeAgent: ClaudeAgentPlan | null;
}

/** Most runs of one round on the service, which determines how many agents stay below their limits. */
export const MAX_RUNS_A_ROUND = 1200;

function throughput(concurrencies: readonly number[], seconds: number, rounds: number): Cell[] {
  const forms: readonly RunForm[] = ['waiting', 'streamed'];
  return forms.flatMap((form) =>
    concurrencies.map((concurrency) => ({ form, concurrency, script: INSTANT, seconds, rounds })),
  );
}

/**
 * The first token arrives at once and the rest later, so that the end of one run does not delay the start of another. The last line
 * starts 64 runs together.
 */
function firstToken(seconds: number, rounds: number): Cell[] {
  const cell = (concurrency: number, everyMs: number): Cell => ({
    form: 'streamed',
    concurrency,
    script: { writes: 2, everyMs },
    seconds,
    rounds,
  });
  const started: Cell = {
    form: 'streamed',
    concurrency: 64,
    script: INSTANT,
    seconds: 10,
    rounds: 10 * rounds,
    runs: 64,
  };
  return [cell(1, 20), cell(16, 200), started];
}

/** Streams last longer than it takes to open all of them. */
const SLOW = { few: { writes: 20, everyMs: 500 }, many: { writes: 20, everyMs: 1100 } };
/** The embedded database needs longer to open them. */
const SLOW_EMBEDDED = { writes: 20, everyMs: 800 };

const GROWTH: Growth = {
  sizes: [
    { messages: 10, threads: 600 },
    { messages: 100, threads: 160 },
    { messages: 1_000, threads: 20 },
    { messages: 10_000, threads: 16 },
  ],
  concurrencies: [1, 16],
  rounds: 3,
  warmUpSeconds: 1,
  seconds: 1.2,
  maxRuns: 300,
};

const REJOIN: Rejoin = {
  runs: 200,
  warmUpRuns: 50,
  script: INSTANT,
  concurrencies: [1, 16],
  rounds: 3,
  seconds: 0.5,
  // The interval of writes is not a multiple of the service's interval, or each event would wait equally long.
  follow: { runs: 96, concurrency: 16, script: { writes: 20, everyMs: 73 } },
};

const TOOLS: ToolRuns = {
  called: 40,
  streaming: 10,
  rounds: 400,
  warmUpRounds: 80,
  coldRuns: 30,
  threads: 120,
  loaded: { concurrency: 16, seconds: 1.2, rounds: 3 },
  idle: { json: [50, 150, 250], notifying: [50, 200] },
  embedded: true,
};

const HOOKS: HookRuns = { rounds: 400, warmUpRounds: 120, agents: 10, threads: 100, embedded: true };

const MEMORY: MemoryRuns = { rounds: 400, warmUpRounds: 120, agents: 10, threads: 200, memories: 500, embedded: true };

const SESSIONS: SessionRuns = {
  rounds: 400,
  warmUpRounds: 120,
  agents: 10,
  threads: 200,
  requests: 200,
  embedded: true,
};

const KNOWLEDGE: CrawlPlan = {
  pages: 500,
  rounds: 3,
  slices: 6,
  seconds: 6,
  threads: 40,
  runsOfASlice: 280,
  embedded: true,
};

const SEARCH: SearchPlan = { postgresChunks: 100_000, embeddedChunks: 5_000, searches: 220 };

const UPLOADS: UploadPlan = { uploads: 1_000, embedded: true };

const TRACES: TracesPlan = {
  stored: 1_000_000,
  requests: 100,
  walkPages: 20,
  published: 30_000,
  embedded: 10_000,
  purged: 20_000,
};

const UNUSED: UnusedTurns = { rounds: 5, turns: 6, concurrency: 64, runs: 250, warmUpRuns: 64, threads: 400 };

const FULL: Omit<Plan, 'quality'> = {
  postgres: {
    targets: ['direct', 'bare', 'service'],
    warmUpSeconds: 2,
    throughput: throughput([1, 16, 64], 1.2, 3),
    firstToken: firstToken(1.5, 3),
    holds: [
      { streams: 500, script: SLOW.few },
      { streams: 2000, script: SLOW.many },
    ],
    threads: 2000,
  },
  embedded: {
    targets: ['bare', 'service'],
    warmUpSeconds: 2,
    throughput: throughput([1, 64], 1.5, 1),
    firstToken: firstToken(1.5, 1),
    holds: [{ streams: 500, script: SLOW_EMBEDDED }],
    threads: 500,
  },
  growth: GROWTH,
  rejoin: REJOIN,
  tools: TOOLS,
  hooks: HOOKS,
  memory: MEMORY,
  sessions: SESSIONS,
  knowledge: KNOWLEDGE,
  search: SEARCH,
  uploads: UPLOADS,
  traces: TRACES,
  webhooks: { deliveries: 40_000, embedded: 20_000 },
  starts: { rounds: 10 },
  keptMemory: { runs: 20_000, threads: 2_000 },
  background: { runs: 1_000, script: { writes: 20, everyMs: 1_500 } },
  unused: { contexts: UNUSED, tools: { ...UNUSED, rounds: 9 } },
  claudeAgent: { rounds: 40 },
};

const QUICK: Omit<Plan, 'quality'> = {
  postgres: {
    targets: ['direct', 'bare', 'service'],
    warmUpSeconds: 1,
    throughput: throughput([1, 64], 1, 1),
    firstToken: firstToken(1, 1),
    holds: [{ streams: 500, script: { writes: 20, everyMs: 300 } }],
    threads: 500,
  },
  embedded: null,
  growth: { ...GROWTH, rounds: 1, warmUpSeconds: 0.5, seconds: 1 },
  rejoin: { ...REJOIN, runs: 50, rounds: 1, seconds: 0.4, follow: { ...REJOIN.follow, runs: 32 } },
  tools: { ...TOOLS, rounds: 150, loaded: { ...TOOLS.loaded, rounds: 1 }, embedded: false },
  hooks: { ...HOOKS, rounds: 150, embedded: false },
  memory: { ...MEMORY, rounds: 150, embedded: false },
  sessions: { ...SESSIONS, rounds: 150, embedded: false },
  knowledge: { ...KNOWLEDGE, rounds: 1, slices: 2, embedded: false },
  search: { postgresChunks: 20_000, embeddedChunks: 0, searches: 100 },
  uploads: { uploads: 100, embedded: false },
  traces: { ...TRACES, stored: 100_000, requests: 50, published: 8_000, embedded: 0, purged: 5_000 },
  webhooks: { deliveries: 10_000, embedded: 0 },
  starts: { rounds: 3 },
  keptMemory: { runs: 4_000, threads: 400 },
  background: { runs: 200, script: { writes: 20, everyMs: 500 } },
  unused: { contexts: { ...UNUSED, rounds: 1, turns: 3, threads: 200 }, tools: { ...UNUSED, rounds: 1, threads: 200 } },
  claudeAgent: { rounds: 8 },
};

/** @param options `only`: the parts to measure; empty for all */
export function planFor(options: { readonly quick: boolean; readonly only: readonly BenchPart[] }): Plan {
  const {
    postgres,
    embedded,
    growth,
    rejoin,
    tools,
    hooks,
    memory,
    sessions,
    knowledge,
    search,
    uploads,
    traces,
    webhooks,
    starts,
    keptMemory,
    background,
    unused,
    claudeAgent,
  } = options.quick ? QUICK : FULL;
  const asked = (part: BenchPart): boolean => options.only.length === 0 || options.only.includes(part);
  const narrowed = (pass: Pass): Pass => ({
    ...pass,
    ...(asked('throughput') ? {} : { throughput: [], firstToken: [] }),
    ...(asked('holds') ? {} : { holds: [] }),
  });
  return {
    postgres: narrowed(postgres),
    embedded: embedded && narrowed(embedded),
    growth: asked('growth') ? growth : null,
    rejoin: asked('rejoin') ? rejoin : null,
    tools: asked('tools') ? tools : null,
    hooks: asked('hooks') ? hooks : null,
    memory: asked('memory') ? memory : null,
    sessions: asked('sessions') ? sessions : null,
    knowledge: asked('knowledge') ? knowledge : null,
    search: asked('search') ? search : null,
    quality: options.only.includes('quality'),
    uploads: asked('uploads') ? uploads : null,
    traces: asked('traces') ? traces : null,
    webhooks: asked('webhooks') ? webhooks : null,
    starts: asked('starts') ? starts : null,
    keptMemory: asked('kept-memory') ? keptMemory : null,
    background: asked('background') ? background : null,
    unused: asked('unused') ? unused : null,
    claudeAgent: asked('claude-agent') ? claudeAgent : null,
  };
}

/** Most runs of a pass on the service. */
export function maxRuns({ throughput: cells, firstToken: firsts, holds, warmUpSeconds }: Pass): number {
  const runs = [...cells, ...firsts].reduce((total, { rounds, runs = MAX_RUNS_A_ROUND }) => total + rounds * runs, 0);
  const held = holds.reduce((total, { streams }) => total + streams, 0);
  return runs + held + (warmUpSeconds > 0 ? 2 * MAX_RUNS_A_ROUND : 0);
}

export function maxGrowthRuns({ sizes, concurrencies, rounds, maxRuns }: Growth): number {
  return sizes.length * maxRuns * (concurrencies.length * rounds + 1);
}

export function maxRejoinRuns({ runs, warmUpRuns, follow }: Rejoin): number {
  return runs + warmUpRuns + 2 * (follow.runs + follow.concurrency);
}

export function measuresAnything({ throughput: cells, firstToken: firsts, holds }: Pass): boolean {
  return cells.length + firsts.length + holds.length > 0;
}
