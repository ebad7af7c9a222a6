import { existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Jest finds the files, starts the workers and tells what came of it; Node itself loads what a file imports. */
const shared = {
  testRunner: '<rootDir>/test/support/jest/native-runner.mjs',
  transform: {},
};

/**
 * What `tools/run-tests.mjs` runs: `embedded` the first tier on the default that needs nothing but this folder, `full` the second
 * tier on it, `cluster` both tiers on PostgreSQL and Redis, `browser` the widget in Chromium.
 */
const mode = process.env.TEST_MODE ?? 'embedded';
const isCluster = mode === 'cluster';

/** The second tier: kills and other faults, large volumes, child processes. */
const secondTier = ['<rootDir>/test/faults/', '\\.full\\.(test|spec)\\.ts$'];
/** About what a cluster does not have, or what does not depend on where data is: peers that misbehave, bodies that are refused. */
const embeddedAlone = ['\\.embedded\\.'];
/** About the Claude Agent SDK, which is an optional package. */
const withClaudeAgent = existsSync('claude-agent/node_modules/@anthropic-ai/claude-agent-sdk')
  ? []
  : ['\\.claude-agent\\.'];
/** Debian's package `pgbouncer`. */
const withPgBouncer = existsSync(process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer') ? [] : ['\\.pgbouncer\\.'];
/** Debian's package `redis-server`, for tests of several servers. */
const withRedisServer = existsSync('/usr/bin/redis-server') ? [] : ['\\.redis-server\\.'];
const testPathIgnorePatterns = [
  ...(mode === 'embedded' ? secondTier : []),
  ...(isCluster ? embeddedAlone : []),
  ...withClaudeAgent,
  ...withPgBouncer,
  ...withRedisServer,
];

/** On a cluster only the unit specs that open a database or speak to Redis: the others would repeat what they said embedded. */
function unitSpecs() {
  if (mode === 'full') return ['<rootDir>/src/**/*.full.spec.ts'];
  if (!isCluster) return ['<rootDir>/{src,widget/src}/**/*.spec.ts'];
  return globSync('src/**/*.spec.ts')
    .filter((file) =>
      /support\/(test-(database|redis)|harness|modes|mode-environment)\.js|REDIS_URL/.test(readFileSync(file, 'utf8')),
    )
    .map((file) => `<rootDir>/${file}`);
}

const project = (displayName, testMatch) => ({
  ...shared,
  displayName,
  rootDir: '.',
  testPathIgnorePatterns,
  testMatch,
});
const unit = project('unit', unitSpecs());
const http = project('http', ['<rootDir>/test/contexts/**/*.test.ts', '<rootDir>/test/faults/**/*.test.ts']);
const projects = {
  embedded: [unit, http, project('architecture', ['<rootDir>/test/architecture/**/*.test.ts'])],
  full: [
    unit,
    project('http', ['<rootDir>/test/contexts/**/*.full.test.ts', '<rootDir>/test/faults/**/*.test.ts']),
    project('architecture', ['<rootDir>/test/architecture/**/*.full.test.ts']),
  ],
  cluster: [unit, http],
  browser: [project('browser', ['<rootDir>/test/browser/**/*.test.ts'])],
};

export default {
  // A test that is skipped says nothing; the embedded mode alone skips what a cluster alone has.
  reporters: isCluster || mode === 'browser' ? ['default', '<rootDir>/tools/fail-on-skipped.mjs'] : ['default'],
  projects: projects[mode],
  testSequencer: '<rootDir>/test/support/jest/slow-files-first.mjs',
  // Of a test that takes 20 seconds on two quick cores; on slow and busy ones it takes four times as long.
  testTimeout: 120_000,
  // Jest leaves one core free by default; on two that would be half of them. On a cluster tests wait for other processes, the databases' among them.
  // A number, because jest takes a percentage above 100 for a number of workers.
  maxWorkers: isCluster ? Math.ceil(1.5 * availableParallelism()) : '100%',
  // Modules are never unloaded, so a worker grows with every file it runs.
  workerIdleMemoryLimit: '2500MB',
};
