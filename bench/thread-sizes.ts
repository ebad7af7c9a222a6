import { round } from './figures.ts';
import { type GrowthFigures, measureGrowth } from './growth.ts';
import type { Place } from './measure.ts';
import type { Floor, WriteLine } from './passes.ts';
import { type Growth, maxGrowthRuns } from './plan.ts';
import { provision } from './provision.ts';
import { seed, type Seeding } from './seed.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';

/** Starts the service, fills threads of each size and measures runs on them. */
export async function runGrowth(
  stage: Stage,
  { load, direct, postgres }: Floor,
  environment: ClusteredEnvironment,
  growth: Growth,
  writeLine: WriteLine,
): Promise<GrowthFigures[]> {
  writeLine('growth: starting the service');
  const running = await stage.startClustered(environment);
  const { service, env } = running;
  const began = Date.now();
  const threads = growth.sizes.reduce((total, size) => total + size.threads, 0);
  const target = await provision({ ...service, env }, { threads, maxRuns: maxGrowthRuns(growth) });
  const seedings = shareOut(target.threads, growth);
  await seed(environment.database, seedings);
  writeLine(`growth: ${threads} threads filled in ${round((Date.now() - began) / 1000, 1)} s`);
  const places = new Map<number, Place>();
  for (const { messages, threads } of seedings) {
    const name = `growth/${messages}`;
    await load.open(name, { ...target, threads });
    places.set(messages, { name, pid: service.pid, database: postgres });
  }
  const figures = await measureGrowth(
    { load, sdk: stage.startSdk(), upstreamOrigin: direct.origin, service: places },
    growth,
    (line) => writeLine(`growth: ${line}`),
  );
  await running.stop();
  return figures;
}

function shareOut(threads: readonly string[], { sizes }: Growth): Seeding[] {
  let from = 0;
  return sizes.map(({ messages, threads: count }) => {
    const share = threads.slice(from, from + count);
    from += count;
    return { messages, threads: share };
  });
}
