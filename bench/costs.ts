/**
 * What a run costs in rows, WAL, statements, commands of Redis and bytes: figures for docs/scaling.md that other load on the machine does not
 * change. `npm run build && node bench/costs.ts [tokens]`, with PostgreSQL's programs and redis-server installed, which it starts.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from '../test/chaos/cluster/cluster.ts';
import { findPrograms } from '../test/chaos/cluster/programs.ts';
import { Findings } from '../test/chaos/findings.ts';
import { ModelProvider } from '../test/chaos/outside/model-provider.ts';
import { textOf } from '../test/chaos/outside/script.ts';
import { inParallel, post } from './provision.ts';
import { processorMs } from './samples.ts';

const AGENTS = 10;
const THREADS = 64;
const RUNS = 640;
/** `tokens` measures only those. */
const ONLY = process.argv[2];
const WORDS = 50;
/** Of replies whose difference is what a token costs. */
const TOKENS = [20, 100];
/** As a provider sends them. */
const TOKEN_MS = 240;
const IDLE_SECONDS = 30;
/** After which traces are published and credits counted. */
const PUBLISHED_SECONDS = 210;

interface Figures {
  readonly wal: { readonly bytes: number; readonly images: number };
  readonly statements: Record<string, number>;
  readonly redis: {
    readonly commands: number;
    readonly inBytes: number;
    readonly outBytes: number;
    readonly ms: number;
  };
  readonly tables: Record<string, { readonly heap: number; readonly indexes: number }>;
}

const programs = findPrograms();
if (typeof programs === 'string') throw new Error(programs);
const folder = mkdtempSync(join(tmpdir(), 'costs-'));
chmodSync(folder, 0o777);
const writeLine = (line: string): void => void process.stderr.write(`${line}\n`);
const models = await ModelProvider.start(() => undefined);
const cluster = await Cluster.start({
  programs,
  folder,
  findings: new Findings(writeLine),
  build: resolve('.'),
  former: undefined,
  environment: models.environment,
  configuration: `shared_preload_libraries = 'pg_stat_statements'\nmax_wal_size = 8GB\ncheckpoint_timeout = 1h\nautovacuum = off\n`,
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cluster.close().finally(() => process.exit(1)));

async function figures(): Promise<Figures> {
  const { postgres, redis } = cluster;
  const [wal] = await postgres.query<{ bytes: string; images: string }>(
    'select wal_bytes::text as bytes, wal_fpi::text as images from pg_stat_wal',
  );
  const statements = await postgres.query<{ query: string; calls: string }>(
    `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as query, sum(calls)::text as calls
     from pg_stat_statements where query !~ 'pg_stat|pg_relation_size' group by 1`,
  );
  const tables = await postgres.query<{ name: string; heap: string; indexes: string }>(
    `select relname as name, pg_table_size(oid)::text as heap, pg_indexes_size(oid)::text as indexes
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const info = (await redis.info('stats')) + (await redis.info('cpu'));
  const stat = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return {
    wal: { bytes: Number(wal?.bytes), images: Number(wal?.images) },
    statements: Object.fromEntries(statements.map(({ query, calls }) => [query, Number(calls)])),
    redis: {
      commands: stat('total_commands_processed'),
      inBytes: stat('total_net_input_bytes'),
      outBytes: stat('total_net_output_bytes'),
      ms: (stat('used_cpu_user') + stat('used_cpu_sys')) * 1000,
    },
    tables: Object.fromEntries(
      tables.map(({ name, heap, indexes }) => [name, { heap: Number(heap), indexes: Number(indexes) }]),
    ),
  };
}

/** What was added between two readings, less what an idle cluster does in that time, for each of so many runs. */
function eachOf(
  runs: number,
  before: Figures,
  after: Figures,
  idle?: { wal: number; statements: number; commands: number },
): object {
  const sum = (counts: Record<string, number>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  const each = (total: number): number => Math.round((total / runs) * 100) / 100;
  const frequent = Object.entries(after.statements)
    .map(([query, calls]) => [query, each(calls - (before.statements[query] ?? 0))] as const)
    .filter(([, calls]) => calls >= 0.05)
    .sort(([, one], [, other]) => other - one);
  return {
    walBytes: each(after.wal.bytes - before.wal.bytes - (idle?.wal ?? 0)),
    fullPageImages: each(after.wal.images - before.wal.images),
    statements: each(sum(after.statements) - sum(before.statements) - (idle?.statements ?? 0)),
    frequent,
    redisCommands: each(after.redis.commands - before.redis.commands - (idle?.commands ?? 0)),
    redisInBytes: each(after.redis.inBytes - before.redis.inBytes),
    redisOutBytes: each(after.redis.outBytes - before.redis.outBytes),
    tables: Object.entries(after.tables).flatMap(([name, { heap, indexes }]) => {
      const grown = [
        each(heap - (before.tables[name]?.heap ?? 0)),
        each(indexes - (before.tables[name]?.indexes ?? 0)),
      ];
      return grown.some((bytes) => bytes > 1) ? [`${name}: ${grown[0] ?? 0} + ${grown[1] ?? 0} of indexes`] : [];
    }),
  };
}

/** After a pause a kept connection may just be closed by the server. */
function fetchAgain(url: string, request: RequestInit): Promise<Response> {
  return fetch(url, request).catch(() => fetch(url, request));
}

/** Bytes of the rows of one run, with the 28 that PostgreSQL adds to each; without indexes. */
async function rowSizes(runs: number): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const table of ['threads', 'messages', 'runs', 'traces', 'credit_entries']) {
    const sql = `select (sum(pg_column_size(t.*) + 28) / ${runs})::int::text as bytes from ${table} t`;
    sizes[table] = Number((await cluster.postgres.query<{ bytes: string }>(sql))[0]?.bytes);
  }
  return sizes;
}

async function connections(): Promise<object> {
  const rows = await cluster.postgres.query<{ count: string }>(
    `select count(*)::text as count from pg_stat_activity where datname = 'chaos' and pid <> pg_backend_pid()`,
  );
  const clients = /^connected_clients:(\d+)/m.exec(await cluster.redis.info('clients'))?.[1];
  return { postgresOfFourProcesses: Number(rows[0]?.count), redisOfFourProcesses: Number(clients) };
}

try {
  await cluster.postgres.query('create extension pg_stat_statements');
  const { id = '' } = await cluster.operate('org', 'create', '--name', 'costs', '--agent-limit', '100');
  const { key = '' } = await cluster.operate('key', 'create', '--org', id, '--capabilities', 'chat,manageAgents');
  const [one, other] = cluster.apis;
  if (!one || !other) throw new Error('There are two API processes');
  const agents = await inParallel(AGENTS, (index) =>
    post(one.origin, key, '/v1/agents', { name: `Agent ${index}`, provider: { type: 'anthropic' } }),
  );
  const threads = await inParallel(THREADS, (index) =>
    post(one.origin, key, '/v1/threads', { assistant_id: agents[index % AGENTS] }),
  );
  let sentBytes = 0;
  let events = 0;
  const run = async (index: number, follow: boolean, words = WORDS, everyMs = follow ? 20 : 0): Promise<void> => {
    const thread = threads[index % THREADS] ?? '';
    const nonce = `run-${index}`;
    const script = { thread, number: index + 1, nonce, words, everyMs };
    const content = `${textOf(script)} ${'A question of some length. '.repeat(4)}`;
    const authorization = `Bearer ${key}`;
    const answer = await fetchAgain(`${one.origin}/v1/threads/${thread}/runs/stream`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ message: { role: 'user', content } }),
    });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    let text = '';
    let following: Promise<unknown> | undefined;
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const runId = /"runId":"([^"]+)"/.exec(text)?.[1];
      if (follow && runId !== undefined)
        following ??= fetchAgain(`${other.origin}/v1/threads/${thread}/runs/${runId}/stream`, {
          headers: { authorization },
        }).then((joined) => joined.text());
    }
    await following;
    if (!text.includes('RUN_FINISHED')) throw new Error(text.slice(-300));
    sentBytes += Buffer.byteLength(text);
    events += text.split('\n\n').length - 1;
  };

  const measureRows = async (): Promise<object> => {
    writeLine('idle');
    await sleep(PUBLISHED_SECONDS * 1000);
    await cluster.postgres.query('checkpoint');
    const idleBefore = await figures();
    await sleep(IDLE_SECONDS * 1000);
    const idleAfter = await figures();
    const idle = eachOf(IDLE_SECONDS, idleBefore, idleAfter) as {
      walBytes: number;
      statements: number;
      redisCommands: number;
    };
    writeLine('runs');
    [sentBytes, events] = [0, 0];
    const before = await figures();
    let began = performance.now();
    const baseline = (): { wal: number; statements: number; commands: number } => {
      const seconds = (performance.now() - began) / 1000;
      return {
        wal: idle.walBytes * seconds,
        statements: idle.statements * seconds,
        commands: idle.redisCommands * seconds,
      };
    };
    await inParallel(RUNS, (index) => run(THREADS + index, false));
    await sleep(1000);
    const after = await figures();
    const runs = eachOf(RUNS, before, after, baseline());
    const perRun = { sentBytes: sentBytes / RUNS, events: events / RUNS };
    const open = await connections();
    writeLine('published');
    await sleep(PUBLISHED_SECONDS * 1000);
    const published = eachOf(RUNS, before, await figures(), baseline());
    writeLine('followed');
    began = performance.now();
    const followedBefore = await figures();
    await inParallel(RUNS / 4, (index) => run(THREADS + RUNS + index, true));
    const followed = eachOf(RUNS / 4, followedBefore, await figures(), baseline());
    return { idlePerSecond: idle, runs, perRun, open, withWhatFollows: published, followed };
  };

  const measureTokens = async (): Promise<object[]> => {
    writeLine('tokens');
    const tokens: object[] = [];
    for (const follow of [false, true]) {
      for (const words of TOKENS) {
        const cpu = [one, other].map(({ pid }) => processorMs(pid));
        const redis = await figures();
        events = 0;
        await Promise.all(threads.map((_, index) => run(2 * RUNS + index, follow, words, TOKEN_MS)));
        const [own = 0, others = 0] = [one, other].map(({ pid }, index) =>
          Math.round(processorMs(pid) - (cpu[index] ?? 0)),
        );
        const after = await figures();
        tokens.push({
          ...{ follow, words, runs: THREADS, events, ownMs: own, otherMs: others },
          redisCommands: after.redis.commands - redis.redis.commands,
          redisInBytes: after.redis.inBytes - redis.redis.inBytes,
          redisOutBytes: after.redis.outBytes - redis.redis.outBytes,
          redisMs: Math.round(after.redis.ms - redis.redis.ms),
        });
      }
    }
    return tokens;
  };

  await inParallel(THREADS, (index) => run(index, false));
  const rowBytes = await rowSizes(THREADS);
  const rows = ONLY === 'tokens' ? null : await measureRows();
  const tokens = await measureTokens();
  process.stdout.write(`${JSON.stringify({ rowBytes, rows, tokens }, null, 2)}\n`);
} finally {
  await cluster.close();
  await models.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
