import type { Floor, WriteLine } from './passes.ts';
import { maxRejoinRuns, type Rejoin } from './plan.ts';
import { provision } from './provision.ts';
import { measureRejoin, type RejoinResult } from './rejoin.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';

/** Starts two replicas of the service on the same databases, and reads the runs of one of them on both. */
export async function runRejoin(
  stage: Stage,
  { load, postgres }: Floor,
  environment: ClusteredEnvironment,
  rejoin: Rejoin,
  writeLine: WriteLine,
): Promise<RejoinResult> {
  writeLine('rejoin: starting two replicas');
  const running = await stage.startClustered(environment);
  const other = await stage.startApi(environment);
  const { service, env } = running;
  const threads = rejoin.runs;
  const target = await provision({ ...service, env }, { threads, maxRuns: maxRejoinRuns(rejoin) });
  await load.open('rejoin/own', target);
  await load.open('rejoin/another', { ...target, origin: other.origin, pid: other.pid });
  const result = await measureRejoin(
    load,
    {
      'its own': { name: 'rejoin/own', pid: service.pid, database: postgres },
      another: { name: 'rejoin/another', pid: other.pid, database: postgres },
    },
    rejoin,
    (line) => writeLine(`rejoin: ${line}`),
  );
  await Promise.all([running.stop(), other.stop()]);
  return result;
}
