import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Jest finds the files, starts the workers and tells what came of it; Node itself loads what a file imports. */
const shared = {
  testRunner: '<rootDir>/test/support/jest/native-runner.mjs',
  transform: {},
};

/** The widget alone, in a real browser. */
const isBrowser = process.env.TEST_MODE === 'browser';
/** There no test may be skipped; the shape of the code is the same in both modes. */
const isCluster = process.env.TEST_MODE === 'cluster';
/** About what a cluster does not have, all of it: there such a file would have no test. */
const embeddedAlone = isCluster ? ['\\.embedded\\.(test|spec)\\.ts$'] : [];
/** About the Claude Agent SDK, which is an optional package. */
const withClaudeAgent = existsSync('claude-agent/node_modules/@anthropic-ai/claude-agent-sdk')
  ? []
  : ['\\.claude-agent\\.'];
const testPathIgnorePatterns = [...embeddedAlone, ...withClaudeAgent];

/** Three tiers: rules beside the source, guarantees through HTTP, and the shape of the code itself. */
export default {
  reporters: isCluster || isBrowser ? ['default', '<rootDir>/tools/fail-on-skipped.mjs'] : ['default'],
  projects: [
    {
      ...shared,
      displayName: 'unit',
      rootDir: '.',
      testPathIgnorePatterns,
      testMatch: ['<rootDir>/{src,widget/src}/**/*.spec.ts'],
    },
    {
      ...shared,
      displayName: 'http',
      rootDir: '.',
      testPathIgnorePatterns,
      testMatch: ['<rootDir>/test/contexts/**/*.test.ts', '<rootDir>/test/faults/**/*.test.ts'],
    },
    { ...shared, displayName: 'architecture', rootDir: '.', testMatch: ['<rootDir>/test/architecture/**/*.test.ts'] },
    { ...shared, displayName: 'browser', rootDir: '.', testMatch: ['<rootDir>/test/browser/**/*.test.ts'] },
  ].filter(
    ({ displayName }) => (displayName === 'browser') === isBrowser && !(isCluster && displayName === 'architecture'),
  ),
  testTimeout: 60_000,
  // Jest leaves one core free by default; on two that would be half of them. On a cluster tests wait for other processes, the databases' among them.
  // A number, because jest takes a percentage above 100 for a number of workers.
  maxWorkers: isCluster ? Math.ceil(1.5 * availableParallelism()) : '100%',
  // Modules are never unloaded, so a worker grows with every file it runs.
  workerIdleMemoryLimit: '2500MB',
};
