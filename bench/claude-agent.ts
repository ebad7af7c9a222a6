/** Measures how much the Claude Agent SDK delays the first token of a run, and the memory of its processes. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { median, percentile, round } from './figures.ts';
import type { ClaudeAgentPlan } from './plan.ts';
import type { WriteLine } from './passes.ts';
import { createKey, post } from './provision.ts';
import { INSTANT, userText } from './script.ts';
import type { Stage } from './stage.ts';
import { table } from './table.ts';

const KINDS = {
  own: "the service's own loop",
  warm: 'the SDK, in an open process',
  cold: 'the SDK, in a new process',
} as const;
type Kind = keyof typeof KINDS;

export interface ClaudeAgentFigures {
  readonly kinds: readonly {
    readonly kind: Kind;
    readonly p50Ms: number;
    readonly p95Ms: number;
    readonly addedMs: number;
  }[];
  /** Resident memory of the process that served the warm runs; null if the package is not installed. */
  readonly megabytes: { readonly first: number; readonly last: number; readonly runs: number } | null;
}

/** The package is optional. */
export function hasClaudeAgentSdk(): boolean {
  return existsSync('claude-agent/node_modules/@anthropic-ai/claude-agent-sdk');
}

/** Milliseconds until the first text of a streamed run. */
async function firstText(origin: string, key: string, thread: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${origin}/v1/threads/${thread}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ message: { role: 'user', content: userText(INSTANT) } }),
  });
  if (!answer.ok || answer.body === null) throw new Error(`A run answered ${answer.status}: ${await answer.text()}`);
  let firstMs: number | undefined;
  let text = '';
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('TEXT_MESSAGE_CONTENT')) firstMs ??= performance.now() - began;
  }
  if (firstMs === undefined || !text.includes('RUN_FINISHED'))
    throw new Error(`A run did not complete: ${text.slice(-300)}`);
  return firstMs;
}

/** The SDK's processes of a service with this data folder. */
function sdkProcesses(dataDir: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const isOne =
        /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(`HOME=${dataDir}/claude-agent/`);
      return isOne && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0')[0]?.endsWith('/claude') === true
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

function megabytes(pid: number): number {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return round((Number(pages) * 4096) / 1024 / 1024, 0);
}

export async function runClaudeAgent(
  stage: Stage,
  { rounds }: ClaudeAgentPlan,
  writeLine: WriteLine,
): Promise<ClaudeAgentFigures> {
  const env = stage.embeddedEnvironment();
  const dataDir = env['DATA_DIR'] ?? '';
  const running = await stage.startEmbedded(env);
  const { service } = running;
  const key = await createKey(env, '--features', 'claude_agent_sdk');
  const threadOf = async (type: string): Promise<string> => {
    const assistant_id = await post(service.origin, key, '/v1/agents', { name: type, provider: { type } });
    return post(service.origin, key, '/v1/threads', { assistant_id });
  };
  const own = await threadOf('anthropic');
  const sdk = await threadOf('claude-agent-sdk');
  const measure = (thread: string): Promise<number> => firstText(service.origin, key, thread);
  const killed = async (): Promise<void> => {
    for (const pid of sdkProcesses(dataDir)) process.kill(pid, 'SIGKILL');
    while (sdkProcesses(dataDir).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const times: Record<Kind, number[]> = { own: [], warm: [], cold: [] };
  await measure(own);
  writeLine(`claude-agent: ${rounds} rounds of a run on each loop`);
  await measure(sdk);
  const [pid] = sdkProcesses(dataDir);
  const first = pid === undefined ? 0 : megabytes(pid);
  for (let nth = 0; nth < rounds; nth += 1) {
    times.own.push(await measure(own));
    times.warm.push(await measure(sdk));
  }
  const last = pid === undefined ? 0 : megabytes(pid);
  for (let nth = 0; nth < rounds / 4; nth += 1) {
    await killed();
    times.cold.push(await measure(sdk));
  }
  await running.stop();
  const base = median(times.own);
  return {
    kinds: (Object.keys(KINDS) as Kind[]).map((kind) => ({
      kind,
      p50Ms: round(median(times[kind]), 0),
      p95Ms: round(percentile(times[kind], 0.95), 0),
      addedMs: round(median(times[kind]) - base, 0),
    })),
    megabytes: pid === undefined ? null : { first, last, runs: rounds + 1 },
  };
}

export function claudeAgentText({ kinds, megabytes: memory }: ClaudeAgentFigures): string {
  const rows = kinds.map(({ kind, p50Ms, p95Ms, addedMs }) => [KINDS[kind], p50Ms, p95Ms, addedMs]);
  const memoryLines = memory
    ? `\n\nA process takes ${memory.first} MB after its first run and ${memory.last} MB after ${memory.runs}.`
    : '';
  return `${table(['First token on', 'ms (p50)', 'ms (p95)', 'added (p50)'], rows)}${memoryLines}`;
}
