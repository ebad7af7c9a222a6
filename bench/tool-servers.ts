import { join } from 'node:path';
import type { Floor, WriteLine } from './passes.ts';
import type { ToolRuns } from './plan.ts';
import type { Environment } from './processes.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';
import { measureToolRuns, type ToolRunFigures } from './tools.ts';
import { provisionTools } from './tools-grounds.ts';
import { type IdleFigures, measureIdle } from './tools-memory.ts';

export interface ToolsResult {
  readonly mode: 'postgres' | 'embedded';
  readonly runs: ToolRunFigures;
  readonly idle: IdleFigures;
}

type Start = (nodeArgs: readonly string[]) => Promise<RunningService>;

/** Starts a tool server, and the service three times on the same data: to fill it, to measure runs and to measure memory. */
export async function runTools(
  stage: Stage,
  floor: Floor,
  clustered: ClusteredEnvironment,
  plan: ToolRuns,
  writeLine: WriteLine,
): Promise<ToolsResult[]> {
  const { port } = await stage.startToolServer();
  const address = `127.0.0.1:${port}`;
  const probeFile = join(stage.makeFolder(), 'memory.json');
  const further = { EGRESS_ALLOW: address, MEMORY_PROBE_FILE: probeFile };
  const on = { floor, toolOrigin: `http://${address}`, probeFile, plan };
  const environment = { ...clustered, env: { ...clustered.env, ...further } };
  const results = [
    await runMode('postgres', (args) => stage.startClustered(environment, args), environment.env, on, writeLine),
  ];
  if (plan.embedded) {
    const env = { ...stage.embeddedEnvironment(), ...further };
    results.push(await runMode('embedded', (args) => stage.startEmbedded(env, args), env, on, writeLine));
  }
  return results;
}

async function runMode(
  mode: ToolsResult['mode'],
  start: Start,
  env: Environment,
  on: { readonly floor: Floor; readonly toolOrigin: string; readonly probeFile: string; readonly plan: ToolRuns },
  writeLine: WriteLine,
): Promise<ToolsResult> {
  const { floor, toolOrigin, plan } = on;
  const tell = (line: string): void => writeLine(`tools, ${mode}: ${line}`);
  tell('making agents and integrations');
  const filling = await start([]);
  const grounds = await provisionTools({ origin: filling.service.origin, env, toolOrigin }, plan);
  await filling.stop();
  const running = await start([]);
  const { origin, pid } = running.service;
  const place = { name: `tools/${mode}`, pid, database: mode === 'embedded' ? undefined : floor.postgres };
  const runs = await measureToolRuns(floor.load, grounds, { origin, place, toolOrigin }, plan, tell);
  await running.stop();
  tell('memory of idle connections');
  const idling = await start(['--expose-gc', '--import', new URL('memory-probe.ts', import.meta.url).href]);
  const idle = await measureIdle(
    { ...idling.service, env, toolOrigin, probeFile: on.probeFile },
    grounds.idle,
    plan.idle,
  );
  await idling.stop();
  return { mode, runs, idle };
}
