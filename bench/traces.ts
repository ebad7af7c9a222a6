/**
 * Measures reading and publishing traces: lists, usage and feedback of an agent with very many traces, an export, how many traces a worker
 * publishes and pushes, and how many the purge deletes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlExecutor } from '../src/platform/database/index.ts';
import type * as TraceRepositories from '../src/observability/persistence/trace.repository.ts';
import { percentile, round } from './figures.ts';
import { openDatabaseOf } from './knowledge-stage.ts';
import type { WriteLine } from './passes.ts';
import type { TracesPlan } from './plan.ts';
import type { PostgresProcesses } from './postgres-processes.ts';
import type { Environment, Service } from './processes.ts';
import { createKey, post } from './provision.ts';
import { measureRecording, type RecordingFigures } from './recording.ts';
import { processorMs, residentMiB } from './samples.ts';
import type { Stage } from './stage.ts';
import { countAll, type FilledAgent, fillTraces } from './traces-fill.ts';

export interface ReadFigures {
  readonly read: string;
  readonly requests: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface PublishFigures {
  readonly on: 'PostgreSQL' | 'embedded';
  readonly traces: number;
  /** Traces a second, until all were published, and until all were pushed. */
  readonly published: number;
  readonly pushed: number;
  /** Processor time of a trace: of the working process, and of the database if it can be measured. */
  readonly processorMs: number;
  readonly databaseMs: number | null;
}

export interface TracesResult {
  readonly stored: number;
  readonly reads: readonly ReadFigures[];
  readonly walk: {
    readonly traces: number;
    readonly pages: number;
    readonly beforeMiB: number;
    readonly peakMiB: number;
  };
  readonly purge: { readonly traces: number; readonly perSecond: number };
  readonly publish: readonly PublishFigures[];
  readonly recording: readonly RecordingFigures[];
}

interface Reader extends FilledAgent {
  readonly service: Service;
  readonly key: string;
}

const DAYS = 88;
const WARM_UP = 10;
/** The service's limits for lists and exports, in requests a minute. */
const LISTS_A_MINUTE = 30;
const LIST_WARM_UP = 5;
const EXPORTS_A_MINUTE = 20;
/** A little more than the minute after which the limits start again. */
const MINUTE_MS = 61_000;

/** Uses separate databases, so that other parts of the bench have no influence. */
export async function runTraces(stage: Stage, plan: TracesPlan, writeLine: WriteLine): Promise<TracesResult> {
  const tell = (line: string): void => writeLine(`traces: ${line}`);
  const environment = await stage.clusteredEnvironment();
  const service = await stage.startApi(environment);
  const open = await openDatabaseOf(environment.env);
  try {
    const reader = await readerOf(service, environment.env, open.database);
    tell(`${plan.stored} traces are stored`);
    await fillTraces(open.database, reader, plan.stored, DAYS);
    await countAll(open.database);
    await fillTraces(open.database, reader, 500, 0);
    const reads = await measureReads(reader, plan);
    tell('a walk');
    const walk = await measureWalk(reader, plan.walkPages);
    const purge = await measurePurge(open.database, reader, plan.purged);
    const publish = [
      await publishOnPostgres(stage, plan, tell),
      ...(plan.embedded === 0 ? [] : [await publishEmbedded(stage, plan, tell)]),
    ];
    return { stored: plan.stored, reads, walk, purge, publish, recording: await measureRecording() };
  } finally {
    await open.close();
    await service.stop();
  }
}

async function readerOf(service: Service, env: Environment, database: SqlExecutor): Promise<Reader> {
  const key = await createKey(env);
  const agentId = await post(service.origin, key, '/v1/agents', { name: 'Traced', provider: { type: 'anthropic' } });
  const threadId = await post(service.origin, key, '/v1/threads', { assistant_id: agentId });
  const [row] = await database.query<{ id: string }>(
    'select organization_id::text as id from agents where id = $1::uuid',
    [agentId],
  );
  return { service, key, agentId, threadId, organizationId: row?.id ?? '' };
}

async function measureReads(reader: Reader, plan: TracesPlan): Promise<ReadFigures[]> {
  const lastPage = Math.floor(plan.stored / 50);
  const days = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString();
  const limited = Math.min(plan.requests, LISTS_A_MINUTE - LIST_WARM_UP);
  const figures = [
    await measureRead(reader, 'a list of 50 and the count', 'traces', limited, LIST_WARM_UP),
    await measureRead(
      reader,
      'usage of 90 days by the hour',
      `analytics/usage?bucket=hour&from=${days(89.9)}`,
      plan.requests,
    ),
    await measureRead(reader, 'usage of 90 days by the day', `analytics/usage?from=${days(89.9)}`, plan.requests),
    await measureRead(reader, 'feedback of 90 days', 'analytics/feedback', plan.requests),
  ];
  await sleep(MINUTE_MS);
  return [
    ...figures,
    await measureRead(reader, 'the last page of the list', `traces?page=${lastPage}`, limited, LIST_WARM_UP),
  ];
}

async function measureRead(
  reader: Reader,
  read: string,
  path: string,
  requests: number,
  warmUp = WARM_UP,
): Promise<ReadFigures> {
  for (let count = 0; count < warmUp; count += 1) await ask(reader, path);
  const times: number[] = [];
  for (let count = 0; count < requests; count += 1) {
    const began = performance.now();
    await ask(reader, path);
    times.push(performance.now() - began);
  }
  return { read, requests, p50Ms: round(percentile(times, 0.5), 1), p95Ms: round(percentile(times, 0.95), 1) };
}

async function ask({ service, key, agentId }: Reader, path: string): Promise<string> {
  const answer = await fetch(`${service.origin}/v1/agents/${agentId}/${path}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${body}`);
  return body;
}

async function measureWalk(reader: Reader, pages: number): Promise<TracesResult['walk']> {
  let cursor: string | null = '';
  let traces = 0;
  let read = 0;
  const memory: number[] = [];
  for (; cursor !== null && read < pages; read += 1) {
    if (read > 0 && read % EXPORTS_A_MINUTE === 0) await sleep(MINUTE_MS);
    const page = JSON.parse(await ask(reader, `traces/export${cursor === '' ? '' : `?cursor=${cursor}`}`)) as {
      traces: unknown[];
      meta: { cursor: string | null };
    };
    traces += page.traces.length;
    cursor = page.meta.cursor;
    memory.push(residentMiB(reader.service.pid));
  }
  return { traces, pages: read, beforeMiB: round(memory[0] ?? 0, 0), peakMiB: round(Math.max(...memory), 0) };
}

async function measurePurge(database: SqlExecutor, agent: FilledAgent, count: number): Promise<TracesResult['purge']> {
  const path = new URL('../dist/observability/persistence/trace.repository.js', import.meta.url).href;
  const { TraceRepository } = (await import(path)) as typeof TraceRepositories;
  const repository = new TraceRepository(
    database as ConstructorParameters<typeof TraceRepositories.TraceRepository>[0],
  );
  const cutoff = new Date(Date.now() - 89 * 86_400_000);
  await fillTraces(database, agent, count, 0);
  await database.query(
    `update traces set started_at = started_at - interval '100 days', published_at = now() where id = any(array(select id from traces where published_at is null limit $1::int))`,
    [count],
  );
  const began = performance.now();
  let purged = 0;
  let batch;
  do {
    batch = await repository.deleteBefore(cutoff, 500);
    purged += batch;
  } while (batch > 0);
  return { traces: purged, perSecond: round(purged / ((performance.now() - began) / 1_000), 0) };
}

async function publishOnPostgres(stage: Stage, plan: TracesPlan, writeLine: WriteLine): Promise<PublishFigures> {
  const environment = await stage.clusteredEnvironment();
  const service = await stage.startApi(environment);
  const open = await openDatabaseOf(environment.env);
  const { port } = await stage.startOtlpServer();
  const postgres = await stage.databaseProcesses();
  try {
    await fillTraces(open.database, await readerOf(service, environment.env, open.database), plan.published, 0);
    writeLine(`a worker publishes ${plan.published} traces`);
    const worker = await stage.startWorker({
      ...environment.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    try {
      return { on: 'PostgreSQL', ...(await measurePublishing(worker, open.database, plan.published, postgres)) };
    } finally {
      await worker.stop();
    }
  } finally {
    await open.close();
    await service.stop();
  }
}

/** The embedded database is in the publishing process, so its metrics show the progress. */
async function publishEmbedded(stage: Stage, plan: TracesPlan, writeLine: WriteLine): Promise<PublishFigures> {
  const { port } = await stage.startOtlpServer();
  const env = { ...stage.embeddedEnvironment(), OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  let running = await stage.startEmbedded(env);
  const key = await createKey(env);
  const agentId = await post(running.service.origin, key, '/v1/agents', {
    name: 'Traced',
    provider: { type: 'anthropic' },
  });
  const threadId = await post(running.service.origin, key, '/v1/threads', { assistant_id: agentId });
  await running.stop();
  const open = await openDatabaseOf(env);
  const [row] = await open.database.query<{ id: string }>(
    'select organization_id::text as id from agents where id = $1::uuid',
    [agentId],
  );
  await fillTraces(open.database, { organizationId: row?.id ?? '', agentId, threadId }, plan.embedded, 0);
  await open.close();
  running = await stage.startEmbedded(env);
  writeLine(`the embedded default publishes ${plan.embedded} traces`);
  try {
    const { service } = running;
    const exported = async (): Promise<number> =>
      (JSON.parse(await (await fetch(`http://127.0.0.1:${port}`)).text()) as { requests: number }).requests;
    const [idle] = [processorMs(service.pid)];
    const began = await until(async () => (await exported()) > 0);
    const requests = Math.ceil(plan.embedded / 100);
    const ended = await until(async () => (await exported()) >= requests);
    const perSecond = round(plan.embedded / ((ended - began) / 1_000), 0);
    return {
      on: 'embedded',
      traces: plan.embedded,
      published: perSecond,
      pushed: perSecond,
      processorMs: round((processorMs(service.pid) - idle) / plan.embedded, 2),
      databaseMs: null,
    };
  } finally {
    await running.stop();
  }
}

async function measurePublishing(
  worker: Service,
  database: SqlExecutor,
  count: number,
  postgres: PostgresProcesses | undefined,
): Promise<Omit<PublishFigures, 'on'>> {
  const left = async (what: string): Promise<number> =>
    (await database.query<{ left: number }>(`select count(*)::int as left from ${what}`))[0]?.left ?? 0;
  const began = await until(async () => (await left('traces where published_at is null')) < count);
  const [ours, theirs] = [processorMs(worker.pid), postgres?.processorMs()];
  const published = await until(async () => (await left('traces where published_at is null')) === 0);
  const pushed = await until(async () => (await left(`outbox where name = 'traces.push'`)) === 0);
  return {
    traces: count,
    published: round(count / ((published - began) / 1_000), 0),
    pushed: round(count / ((pushed - began) / 1_000), 0),
    processorMs: round((processorMs(worker.pid) - ours) / count, 2),
    databaseMs: postgres && theirs !== undefined ? round((postgres.processorMs() - theirs) / count, 2) : null,
  };
}

/** @returns when the condition was true */
async function until(isSo: () => Promise<boolean>): Promise<number> {
  while (!(await isSo())) await sleep(20);
  return performance.now();
}
