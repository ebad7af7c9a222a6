import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { round } from './figures.ts';
import { createKey, inParallel, post } from './provision.ts';
import { residentMiB } from './samples.ts';
import type { ToolRuns } from './plan.ts';
import type { ToolGrounds } from './tools-grounds.ts';
import type { EquippedService, IdleIntegration } from './tools-setup.ts';

export interface IdleConnections {
  /** Whether each connection has a stream for changes of the server's tools. */
  readonly streams: boolean;
  readonly connections: number;
  /** Memory of each connection: the difference to the fewest connections, divided by their number, after a garbage collection. */
  readonly heapKiB: number;
  readonly residentKiB: number;
}

export interface IdleFigures {
  readonly connections: readonly IdleConnections[];
  /** Memory of an idle process of each local app. */
  readonly local: readonly { readonly app: string; readonly residentMiB: number }[];
}

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
}

const KIB = 1024;
/** After this time the sockets are closed, while the pool keeps the connections for minutes. */
const QUIET_MS = 6_000;

interface Probed extends EquippedService {
  readonly pid: number;
  /** The file of the memory probe. */
  readonly probeFile: string;
}

export async function measureIdle(
  service: Probed,
  idle: ToolGrounds['idle'],
  steps: ToolRuns['idle'],
): Promise<IdleFigures> {
  const without = await measureConnections(service, idle.json, steps.json);
  const withStreams = await measureConnections(service, idle.notifying, steps.notifying);
  return {
    connections: [
      ...without.map((of) => ({ ...of, streams: false })),
      ...withStreams.map((of) => ({ ...of, streams: true })),
    ],
    local: await measureLocal(service),
  };
}

async function measureConnections(
  { origin, pid, probeFile }: Probed,
  integrations: readonly IdleIntegration[],
  steps: readonly number[],
): Promise<Omit<IdleConnections, 'streams'>[]> {
  const held: { connections: number; memory: Memory }[] = [];
  for (const connections of steps) {
    await open(origin, integrations.slice(held.at(-1)?.connections ?? 0, connections));
    held.push({ connections, memory: await memoryOf(pid, probeFile) });
  }
  const [fewest, ...more] = held;
  if (!fewest) return [];
  return more.map(({ connections, memory }) => {
    const each = (of: (memory: Memory) => number): number =>
      round((of(memory) - of(fewest.memory)) / KIB / (connections - fewest.connections), 1);
    return {
      connections,
      heapKiB: each(({ heapUsed, external }) => heapUsed + external),
      residentKiB: each(({ rss }) => rss),
    };
  });
}

async function open(origin: string, integrations: readonly IdleIntegration[]): Promise<void> {
  await inParallel(integrations.length, async (index) => {
    const { key, path } = integrations[index] ?? { key: '', path: '' };
    const answer = await fetch(`${origin}${path}/test`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    });
    const tested = (await answer.json()) as { readonly ok?: boolean };
    if (tested.ok !== true) throw new Error(`The connection test answered ${JSON.stringify(tested)}`);
  });
}

/** After a garbage collection. */
export async function memoryOf(pid: number, probeFile: string): Promise<Memory> {
  await sleep(QUIET_MS);
  rmSync(probeFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let waited = 0; !existsSync(probeFile); waited += 20) {
    if (waited > QUIET_MS) throw new Error('The service does not report its memory');
    await sleep(20);
  }
  return JSON.parse(readFileSync(probeFile, 'utf8')) as Memory;
}

async function measureLocal({ origin, env, pid }: Probed): Promise<IdleFigures['local']> {
  const key = await createKey(env);
  const agentId = await post(origin, key, '/v1/agents', { name: 'Local', provider: { type: 'anthropic' } });
  const found: { app: string; residentMiB: number }[] = [];
  for (const app of ['memory', 'everything']) {
    const before = childrenOf(pid);
    await post(origin, key, `/v1/agents/${agentId}/tool-integrations`, { type: 'managed-mcp', app });
    await sleep(QUIET_MS);
    const started = childrenOf(pid).filter((child) => !before.includes(child));
    // With Redis, the service does not start an app that stores a file.
    if (started.length > 0)
      found.push({
        app,
        residentMiB: round(
          started.reduce((sum, child) => sum + residentMiB(child), 0),
          0,
        ),
      });
  }
  return found;
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
}
