/**
 * Measures searches of an agent's knowledge through HTTP, one at a time: by keywords in 100,000 chunks of one agent, with as many chunks of
 * another agent, on PostgreSQL; by keywords and hybrid in 5,000 chunks on the embedded database.
 */
import type { SqlExecutor } from '../src/platform/database/index.ts';
import { percentile, round } from './figures.ts';
import { fillKnowledge, fillVectors } from './knowledge-fill.ts';
import { openDatabaseOf } from './knowledge-stage.ts';
import { ZipfText } from './knowledge-text.ts';
import type { SearchPlan } from './plan.ts';
import type { PostgresProcesses } from './postgres-processes.ts';
import type { Environment, Service } from './processes.ts';
import { createKey, post } from './provision.ts';
import { processorMs } from './samples.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';

export interface SearchFigures {
  readonly by: 'keywords' | 'hybrid';
  /** Chunks of the searched agent. */
  readonly chunks: number;
  /** Chunks of other agents in the same tables. */
  readonly beside: number;
  readonly searches: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly longestMs: number;
  /** Processor time of a search: of the service, and of the database if it can be measured. */
  readonly processorMs: number;
  readonly databaseMs: number | null;
}

interface Searched {
  readonly service: Service;
  readonly key: string;
  readonly agentId: string;
  readonly chunks: number;
  readonly beside: number;
  readonly postgres: PostgresProcesses | undefined;
}

const DIMENSIONS = 1_536;
const WARM_UP = 30;

/** Uses a separate database, so that other parts of the bench have no influence. */
export async function searchOnPostgres(
  stage: Stage,
  plan: SearchPlan,
  writeLine: (line: string) => void,
): Promise<SearchFigures[]> {
  const environment: ClusteredEnvironment = await stage.clusteredEnvironment();
  const service = await stage.startApi(environment);
  try {
    const { key, agents, organizationId, open } = await agentsOf(service, environment.env, 2);
    try {
      writeLine(`2 x ${plan.postgresChunks} chunks are stored`);
      await fillKnowledge(open.database, organizationId, agents, plan.postgresChunks);
    } finally {
      await open.close();
    }
    const searched = {
      service,
      key,
      agentId: agents[0] ?? '',
      chunks: plan.postgresChunks,
      beside: plan.postgresChunks,
      postgres: await stage.databaseProcesses(),
    };
    return [await measure(searched, plan.searches, 'keywords')];
  } finally {
    await service.stop();
  }
}

/** @param further settings of the embeddings endpoint, which returns vectors of 1,536 numbers */
export async function searchEmbedded(
  stage: Stage,
  further: Environment,
  plan: SearchPlan,
  writeLine: (line: string) => void,
): Promise<SearchFigures[]> {
  const env = { ...stage.embeddedEnvironment(), ...further };
  let running = await stage.startEmbedded(env);
  const key = await createKey(env);
  const agentId = await post(running.service.origin, key, '/v1/agents', {
    name: 'Searched',
    provider: { type: 'anthropic' },
  });
  await running.stop();
  const open = await openDatabaseOf(env);
  try {
    writeLine(`${plan.embeddedChunks} chunks are stored with their vectors`);
    const organizationId = await organizationOf(open.database, agentId);
    await fillKnowledge(open.database, organizationId, [agentId], plan.embeddedChunks);
    await fillVectors(open.database, DIMENSIONS);
  } finally {
    await open.close();
  }
  running = await stage.startEmbedded(env);
  try {
    const searched = {
      service: running.service,
      key,
      agentId,
      chunks: plan.embeddedChunks,
      beside: 0,
      postgres: undefined,
    };
    return [await measure(searched, plan.searches, 'keywords'), await measure(searched, plan.searches, 'hybrid')];
  } finally {
    await running.stop();
  }
}

async function agentsOf(service: Service, env: Environment, count: number) {
  const key = await createKey(env);
  const agents: string[] = [];
  for (let number = 0; number < count; number += 1)
    agents.push(
      await post(service.origin, key, '/v1/agents', { name: `Searched ${number}`, provider: { type: 'anthropic' } }),
    );
  const open = await openDatabaseOf(env);
  return { key, agents, open, organizationId: await organizationOf(open.database, agents[0] ?? '') };
}

async function organizationOf(database: SqlExecutor, agentId: string): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    'select organization_id::text as id from agents where id = $1::uuid',
    [agentId],
  );
  return row?.id ?? '';
}

async function measure(
  { service, key, agentId, chunks, beside, postgres }: Searched,
  searches: number,
  by: SearchFigures['by'],
): Promise<SearchFigures> {
  const text = new ZipfText(99);
  const ask = async (query: string): Promise<number> => {
    const began = performance.now();
    const answer = await fetch(`${service.origin}/v1/agents/${agentId}/knowledge-bases/search`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, scoreThreshold: 0, semanticWeight: by === 'keywords' ? 0 : 0.4 }),
    });
    const body = await answer.text();
    const took = performance.now() - began;
    if (!answer.ok) throw new Error(`A search answered ${answer.status}: ${body}`);
    const [first] = (JSON.parse(body) as { results: { semanticScore: number | null }[] }).results;
    if (by === 'hybrid' && first?.semanticScore === null) throw new Error('The searches do not use vectors');
    return took;
  };
  for (let count = 0; count < WARM_UP; count += 1) await ask(text.query());
  const [ours, theirs] = [processorMs(service.pid), postgres?.processorMs()];
  const times: number[] = [];
  for (let count = 0; count < searches; count += 1) times.push(await ask(text.query()));
  const spent = processorMs(service.pid) - ours;
  return {
    by,
    chunks,
    beside,
    searches,
    p50Ms: round(percentile(times, 0.5), 1),
    p95Ms: round(percentile(times, 0.95), 1),
    longestMs: round(Math.max(...times), 1),
    processorMs: round(spent / searches, 1),
    databaseMs: postgres && theirs !== undefined ? round((postgres.processorMs() - theirs) / searches, 1) : null,
  };
}
