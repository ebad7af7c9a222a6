/** What each context costs a plain run of an agent that does not use it, beside processes without the context. */
import { median, round, type Spread, spreadOf } from './figures.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { UnusedTurns } from './plan.ts';
import { provision } from './provision.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { type Sent, sentBy, STAYS_WARM, takeTurns } from './turns.ts';

/**
 * The contexts that can be left out of the service. Without `files` nothing changes: `conversations` imports its module and it adds nothing
 * to runs. In the same way `observability` keeps the module of `hooks`, and that the module of `integrations`; what they add to runs goes.
 */
const UNUSED = [
  'integrations',
  'knowledge',
  'hooks',
  'response-components',
  'memory',
  'sessions',
  'instructions',
] as const;

/** These can be left out too, but every run uses them: its trace and its credits are stored. */
const USED = ['observability', 'credits'] as const;

const LEAVE_OUT = new URL('leave-out.ts', import.meta.url).href;

/** More than one of so many processes makes in turn. */
const RUNS_A_MINUTE = 10_000;

/** Of each process: a PostgreSQL server takes 100 by default. */
const CONNECTIONS = 4;

interface Variant {
  readonly name: string;
  readonly leftOut: readonly string[];
}

/** The second process with all contexts shows by how much equal processes differ. */
const VARIANTS: readonly Variant[] = [
  { name: 'nothing', leftOut: [] },
  { name: 'nothing, another process', leftOut: [] },
  ...[...UNUSED, ...USED].map((name) => ({ name: `\`${name}\``, leftOut: [name] })),
  { name: 'all that the run does not use', leftOut: UNUSED },
  { name: 'all of these', leftOut: [...UNUSED, ...USED] },
];

export interface VariantFigures {
  readonly leftOut: string;
  readonly processorMsPerRun: number;
  /** What the process with all contexts needs for a run, as a multiple of this one in the same round. */
  readonly all: Spread;
}

export async function measureUnusedContexts(
  stage: Stage,
  { load, direct }: Floor,
  environment: ClusteredEnvironment,
  plan: UnusedTurns,
  writeLine: WriteLine,
): Promise<VariantFigures[]> {
  writeLine('making agents and threads');
  // By another process, so that those that are measured are alike.
  const filling = await stage.startApi(environment);
  const filled = { ...filling, env: environment.env };
  const grounds = [];
  for (const _ of VARIANTS) grounds.push(await provision(filled, { threads: plan.threads, maxRuns: RUNS_A_MINUTE }));
  await filling.stop();
  writeLine(`starting ${VARIANTS.length} processes`);
  const worker = await stage.startWorker(environment.env);
  const services = [];
  for (const [index, { name: without, leftOut }] of VARIANTS.entries()) {
    const name = `unused/${without}`;
    const env = { ...environment.env, DATABASE_POOL: String(CONNECTIONS), LEAVE_OUT: leftOut.join(',') };
    const service = await stage.startApi({ ...environment, env }, [STAYS_WARM, '--import', LEAVE_OUT]);
    const [target] = grounds.slice(index);
    if (!target) throw new Error('There are fewer grounds than processes');
    await load.open(name, { ...target, origin: service.origin, pid: service.pid });
    checkPlain(name, await sentBy(load, name, direct.origin));
    services.push({ name, ...service });
  }
  writeLine(`${plan.concurrency} runs at a time, on each process in turn`);
  const figures = figuresOf(await takeTurns(load, services, plan));
  await Promise.all([worker, ...services].map((service) => service.stop()));
  return figures;
}

/** @throws Error when the agent uses a context after all */
function checkPlain(name: string, { system, tools }: Sent): void {
  if (system !== '' || tools.length > 0)
    throw new Error(`A plain run of ${name} sends the model ${system} and ${tools.length} tools`);
}

function figuresOf(costs: readonly (readonly number[])[]): VariantFigures[] {
  const [all = []] = costs;
  return VARIANTS.map(({ name }, index) => {
    const own = costs[index] ?? [];
    return {
      leftOut: name,
      processorMsPerRun: round(median(own), 3),
      all: spreadOf(own.map((cost, number) => (all[number] ?? Number.NaN) / cost)),
    };
  });
}
