import type { Environment } from './processes.ts';
import { operatorCommand } from './processes.ts';
import type { Target } from './targets.ts';

/** Requests to one agent in a minute, below the service's limit of 600. */
const BUDGET = 540;
const AT_ONCE = 16;

/** A key, and enough agents to keep each of them below its limit. */
export async function provision(
  service: { readonly origin: string; readonly pid: number; readonly env: Environment },
  needs: { readonly threads: number; readonly maxRuns: number },
): Promise<Target> {
  const { origin, pid, env } = service;
  const key = await createKey(env);
  const agents = await inParallel(Math.ceil((needs.threads + needs.maxRuns) / BUDGET), (index) =>
    post(origin, key, '/v1/agents', { name: `Bench ${index}`, provider: { type: 'anthropic' } }),
  );
  // The list alternates the agents, so that runs spread over them.
  const threads = await inParallel(needs.threads, (index) =>
    post(origin, key, '/v1/threads', { assistant_id: agents[index % agents.length] }),
  );
  return { kind: 'service', origin, pid, key, threads };
}

/** The key of a new organization. @param options of `org create` */
export async function createKey(env: Environment, ...options: readonly string[]): Promise<string> {
  const organization = await operatorCommand(
    ['org', 'create', '--name', 'bench', '--agent-limit', '1000', ...options],
    env,
  );
  const created = await operatorCommand(
    ['key', 'create', '--org', organization['id'] ?? '', '--capabilities', 'chat,manageAgents'],
    env,
  );
  return created['key'] ?? '';
}

/** @returns the `id` in the response */
export async function post(origin: string, key: string, path: string, body: object): Promise<string> {
  return (JSON.parse(await send('POST', origin, key, path, body)) as { readonly id: string }).id;
}

export async function read<Body>(origin: string, key: string, path: string): Promise<Body> {
  return JSON.parse(await send('GET', origin, key, path)) as Body;
}

export async function put(origin: string, key: string, path: string, body: object): Promise<void> {
  await send('PUT', origin, key, path, body);
}

export async function send(method: string, origin: string, key: string, path: string, body?: object): Promise<string> {
  const answer = await fetch(`${origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text;
}

export async function inParallel<Result>(count: number, work: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
