// Runs jest on the build in dist/; further arguments are passed to jest.
//   embedded   the first tier, embedded: needs only this folder
//   full       the second tier, embedded: kills and other faults, large volumes, child processes
//   cluster    both tiers on PostgreSQL and Redis (DATABASE_URL, REDIS_URL); a skipped test fails it
//   browser    the widget in a real browser (Chromium, or the program at CHROMIUM), embedded
//   probe-browser  runs no tests; fails with one line when there is no Chromium
//   probe      runs no tests; fails with one line when PostgreSQL or Redis does not answer
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Redis } from 'ioredis';
import pg from 'pg';

const PROBE_MS = 3000;

const databaseUrl = process.env.DATABASE_URL ?? 'postgresql://root@127.0.0.1:5432/test';
const chromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
const redisUrl = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

async function probeDatabase() {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function probeRedis() {
  const redis = new Redis(redisUrl, { lazyConnect: true, connectTimeout: PROBE_MS, retryStrategy: null });
  let cause;
  // ioredis rejects with "Connection is closed.", and reports the cause only here.
  redis.on('error', (error) => (cause = error));
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw cause ?? error;
  } finally {
    redis.disconnect();
  }
}

/** Throws one line with the name of the server that does not answer, without its URL, which may contain a password. */
async function requireCluster() {
  const answers = (name, probe) =>
    probe().catch((error) => {
      throw new Error(`${name} does not answer: ${error.message || error.code}`, { cause: error });
    });
  await answers('PostgreSQL (DATABASE_URL)', probeDatabase);
  await answers('Redis (REDIS_URL)', probeRedis);
}

/** Removes the databases that tests have copied for services, because jest kills its workers before they could. */
async function dropTemplates(run) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('select datname from pg_database where starts_with(datname, $1)', [
    `test_template_${run}_`,
  ]);
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  await client.end();
}

/** Replaces this process as far as Node can: with jest's output, exit code and signals. */
function runJest(environment, jestArguments, ended = () => Promise.resolve()) {
  const child = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...jestArguments], {
    stdio: 'inherit',
    env: environment,
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
    void ended();
  });
}

const [mode, ...jestArguments] = process.argv.slice(2);
// The developer's environment must not decide which database a test uses.
const { DATABASE_URL: _database, REDIS_URL: _redis, TEST_MODE: _mode, ...environment } = process.env;

switch (mode) {
  case 'embedded':
    runJest(environment, jestArguments);
    break;
  case 'full':
    runJest({ ...environment, TEST_MODE: 'full' }, jestArguments);
    break;
  case 'cluster':
  case 'probe':
    try {
      await requireCluster();
      if (mode === 'cluster') {
        const cluster = { TEST_MODE: 'cluster', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
        const run = String(process.pid);
        runJest({ ...environment, ...cluster, TEST_RUN: run }, jestArguments, () => dropTemplates(run));
      }
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
    break;
  case 'browser':
  case 'probe-browser':
    if (!existsSync(chromium)) {
      process.stderr.write(`There is no Chromium at ${chromium}; install it, or name another with CHROMIUM\n`);
      process.exitCode = 1;
    } else if (mode === 'browser') runJest({ ...environment, TEST_MODE: 'browser', CHROMIUM: chromium }, jestArguments);
    break;
  default:
    process.stderr.write('usage: run-tests.mjs embedded|full|cluster|browser|probe|probe-browser [jest arguments]\n');
    process.exitCode = 2;
}
