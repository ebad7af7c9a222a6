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

/** More than one of four processes makes in turn. */
const RUNS_A_MINUTE = 25_000;

interface Variant {
  readonly name: string;
  readonly leftOut: readonly string[];
}

const COMPLETE: Variant = { name: 'nothing', leftOut: [] };

/** Few at once, because a process that waits long for its turn loses its place in caches and memory. */
const GROUPS: readonly (readonly Variant[])[] = [
  [
    // Shows by how much equal processes differ.
    { name: 'nothing, another process', leftOut: [] },
    { name: 'all that the run does not use', leftOut: UNUSED },
    { name: 'these, `observability` and `credits`', leftOut: [...UNUSED, ...USED] },
  ],
  without('integrations', 'knowledge', 'hooks'),
  without('response-components', 'memory', 'sessions'),
  without('instructions', ...USED),
];

function without(...names: readonly string[]): readonly Variant[] {
  return names.map((name) => ({ name: `\`${name}\``, leftOut: [name] }));
}

export interface VariantFigures {
  readonly leftOut: string;
  readonly processorMsPerRun: number;
  /** Of the process with all contexts beside it. */
  readonly completeMsPerRun: number;
  /** That as a multiple of the process without, round by round. */
  readonly ratio: Spread;
}

interface Ground {
  readonly stage: Stage;
  readonly floor: Floor;
  readonly environment: ClusteredEnvironment;
  readonly plan: UnusedTurns;
}

export async function measureUnusedContexts(
  stage: Stage,
  floor: Floor,
  environment: ClusteredEnvironment,
  plan: UnusedTurns,
  writeLine: WriteLine,
): Promise<VariantFigures[]> {
  const worker = await stage.startWorker(environment.env);
  const figures: VariantFigures[] = [];
  for (const group of GROUPS) {
    writeLine(`${plan.concurrency} runs at a time, left out: ${group.map(({ name }) => name).join('; ')}`);
    figures.push(...(await measureGroup({ stage, floor, environment, plan }, group)));
  }
  await worker.stop();
  return figures;
}

/** Beside a new process with all contexts. */
async function measureGroup(on: Ground, group: readonly Variant[]): Promise<VariantFigures[]> {
  const { stage, floor, environment, plan } = on;
  const variants = [COMPLETE, ...group];
  // The data are made by another process, so that those that are measured are alike.
  const filling = await stage.startApi(environment);
  const places = [];
  for (const { name, leftOut } of variants) {
    const needs = { threads: plan.threads, maxRuns: RUNS_A_MINUTE };
    const target = await provision({ ...filling, env: environment.env }, needs);
    const env = { ...environment.env, LEAVE_OUT: leftOut.join(',') };
    const service = await stage.startApi({ ...environment, env }, [STAYS_WARM, '--import', LEAVE_OUT]);
    const place = { ...service, name: `unused/${group[0]?.name ?? ''}/${name}` };
    await floor.load.open(place.name, { ...target, origin: place.origin, pid: place.pid });
    checkPlain(name, await sentBy(floor.load, place.name, floor.direct.origin));
    places.push(place);
  }
  await filling.stop();
  const figures = figuresOf(group, await takeTurns(floor.load, places, plan));
  await Promise.all(places.map((place) => place.stop()));
  return figures;
}

/** @throws Error when the agent uses a context after all */
function checkPlain(name: string, { system, tools }: Sent): void {
  if (system !== '' || tools.length > 0)
    throw new Error(`A plain run, left out ${name}, sends the model ${system} and ${tools.length} tools`);
}

function figuresOf(
  group: readonly Variant[],
  [complete = [], ...costs]: readonly (readonly number[])[],
): VariantFigures[] {
  return group.map(({ name }, index) => {
    const own = costs[index] ?? [];
    return {
      leftOut: name,
      processorMsPerRun: round(median(own), 3),
      completeMsPerRun: round(median(complete), 3),
      ratio: spreadOf(own.map((cost, number) => (complete[number] ?? Number.NaN) / cost)),
    };
  });
}
