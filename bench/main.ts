/**
 * The bench: how many turns the service takes, how fast, in how much memory, next to the least that any server would
 * have to do in the same run. `npm run bench -- [--quick] [--profile <folder>]`; see docs/performance.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { round } from './figures.ts';
import { clustered, embedded, type PassResult, runPass } from './passes.ts';
import { planFor } from './plan.ts';
import { load, machine, printable, type Report } from './report.ts';
import { Stage } from './stage.ts';

const RESULTS = join(import.meta.dirname, 'results');

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function profileArgs(folder: string | undefined): string[] {
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

async function run(stage: Stage): Promise<Report> {
  const began = Date.now();
  const loadBefore = load();
  const plan = planFor(options);
  const direct = await stage.startUpstream();
  const bare = await stage.startBare(plan.postgres.threads);
  const floor = { load: stage.startLoad(), direct, bare };
  const passes: PassResult[] = [await runPass(floor, await clustered(stage), plan.postgres, say)];
  if (plan.embedded) passes.push(await runPass(floor, embedded(stage), plan.embedded, say));
  return {
    startedAt: new Date(began).toISOString(),
    seconds: round((Date.now() - began) / 1000, 0),
    machine: machine(),
    loadBefore,
    node: process.version,
    postgres: await stage.databaseVersion(),
    quick: options.quick,
    passes,
  };
}

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
  process.stdout.write(`${printable(report)}\n`);
  const lost = report.passes.flatMap(({ holds }) => holds).filter(({ lost, peakOpen, streams }) => lost > 0 || peakOpen < streams);
  if (lost.length > 0) {
    say('Streams were lost, or never open all at once: the figures above do not stand');
    process.exitCode = 1;
  }
} catch (error) {
  say(clearing ? 'Stopped' : `The bench failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exitCode = 1;
} finally {
  await clear();
}
