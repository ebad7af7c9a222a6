/**
 * The bench: throughput, latency and memory of runs of the service, compared with the minimum that any server must do for the same
 * run. See docs/performance.md for
 * `npm run bench -- [--quick] [--only <part>] [--document] [--profile <folder>] [--corpus <folder>]`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { round } from './figures.ts';
import { clustered, embedded, type PassResult, runPass } from './passes.ts';
import { fillDocument } from './document.ts';
import { type BenchPart, measuresAnything, PARTS, planFor } from './plan.ts';
import { runRejoin } from './replicas.ts';
import { runHooks } from './hooks.ts';
import { runKnowledge } from './knowledge.ts';
import { missedText, runQuality } from './knowledge-quality/run.ts';
import { runSearch } from './knowledge-search-report.ts';
import { runUploads } from './knowledge-uploads.ts';
import { runMemory } from './memory.ts';
import { runSessions } from './sessions.ts';
import { load, machine, type Report, sectionsOf } from './report.ts';
import { Stage } from './stage.ts';
import { runTraces } from './traces.ts';
import { runWebhooks } from './webhooks.ts';
import { hasClaudeAgentSdk, runClaudeAgent } from './claude-agent.ts';
import { runKeptMemory } from './kept-memory.ts';
import { runBackground } from './background.ts';
import { runStarts } from './starts.ts';
import { runTools } from './tool-servers.ts';
import { runUnused } from './unused.ts';
import { runGrowth } from './thread-sizes.ts';

const RESULTS = join(import.meta.dirname, 'results');

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    document: { type: 'boolean', default: false },
    profile: { type: 'string' },
    corpus: { type: 'string' },
  },
});

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

function partsOf(names: readonly string[]): BenchPart[] {
  return names.map((name) => {
    const part = PARTS.find((known) => known === name);
    if (!part) throw new Error(`--only must be one of ${PARTS.join(', ')}, not ${name}`);
    return part;
  });
}

function profileArgs(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function run(stage: Stage): Promise<Report> {
  const began = Date.now();
  const loadBefore = load();
  const direct = await stage.startUpstream();
  const bare = await stage.startBare(plan.postgres.threads);
  const floor = { load: stage.startLoad(), direct, bare, postgres: await stage.databaseProcesses() };
  const environment = await stage.clusteredEnvironment();
  const passes: PassResult[] = [];
  if (measuresAnything(plan.postgres)) {
    passes.push(await runPass(floor, clustered(stage, environment), plan.postgres, writeLine));
  }
  const growth = plan.growth && (await runGrowth(stage, floor, environment, plan.growth, writeLine));
  const rejoin = plan.rejoin && (await runRejoin(stage, floor, environment, plan.rejoin, writeLine));
  if (plan.embedded && measuresAnything(plan.embedded)) {
    passes.push(await runPass(floor, embedded(stage), plan.embedded, writeLine));
  }
  const tools = plan.tools && (await runTools(stage, floor, environment, plan.tools, writeLine));
  const hooks = plan.hooks && (await runHooks(stage, floor, environment, plan.hooks, writeLine));
  const memory = plan.memory && (await runMemory(stage, floor, environment, plan.memory, writeLine));
  const sessions = plan.sessions && (await runSessions(stage, floor, environment, plan.sessions, writeLine));
  const knowledge = plan.knowledge && (await runKnowledge(stage, floor, environment, plan.knowledge, writeLine));
  const search = plan.search && (await runSearch(stage, plan.search, writeLine));
  const quality = plan.quality ? await runQuality(stage, options.corpus, writeLine) : null;
  const uploads = plan.uploads && (await runUploads(stage, plan.uploads, writeLine));
  const traces = plan.traces && (await runTraces(stage, plan.traces, writeLine));
  const webhooks = plan.webhooks && (await runWebhooks(stage, plan.webhooks, writeLine));
  const starts = plan.starts && (await runStarts(stage, environment, plan.starts, writeLine));
  const keptMemory = plan.keptMemory && (await runKeptMemory(stage, floor, environment, plan.keptMemory, writeLine));
  const background = plan.background && (await runBackground(stage, environment, plan.background, writeLine));
  const unused = plan.unused && (await runUnused(stage, floor, environment, plan.unused, writeLine));
  const claudeAgent =
    plan.claudeAgent && hasClaudeAgentSdk() ? await runClaudeAgent(stage, plan.claudeAgent, writeLine) : null;
  return {
    startedAt: new Date(began).toISOString(),
    seconds: round((Date.now() - began) / 1000, 0),
    machine: machine(),
    loadBefore,
    node: process.version,
    postgres: await stage.databaseVersion(),
    quick: options.quick,
    passes,
    growth,
    rejoin,
    tools,
    hooks,
    memory,
    sessions,
    knowledge,
    search,
    quality,
    uploads,
    traces,
    webhooks,
    starts,
    keptMemory,
    background,
    unused,
    claudeAgent,
  };
}

const plan = planFor({ quick: options.quick, only: partsOf(options.only) });
const stage = await Stage.set({
  databaseUrl: process.env['DATABASE_URL'] ?? 'postgresql://root@127.0.0.1:5432/test',
  redisUrl: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379',
  nodeArgs: profileArgs(options.profile),
});

let clearing: Promise<void> | undefined;
function clear(): Promise<void> {
  clearing ??= stage.clear();
  return clearing;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void clear().finally(() => process.exit(1));
  });
}

try {
  const report = await run(stage);
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(report, null, 2)}\n`);
  const sections = sectionsOf(report);
  process.stdout.write(`${sections.map(({ text }) => text).join('\n\n')}\n`);
  if (report.quality) writeFileSync(join(RESULTS, 'quality-missed.txt'), `${missedText(report.quality)}\n`);
  if (options.document) fillDocument(sections);
  const lost = report.passes
    .flatMap(({ holds }) => holds)
    .filter(({ lost, peakOpen, streams }) => lost > 0 || peakOpen < streams);
  if (lost.length > 0) {
    writeLine('Streams were lost, or never all open at once: the figures above are invalid');
    process.exitCode = 1;
  }
} catch (error) {
  writeLine(
    clearing
      ? 'Stopped'
      : `The bench failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  process.exitCode = 1;
} finally {
  await clear();
}
