const transform = { '^.+\\.ts$': ['@swc/jest', { swcrc: false, ...swcOptions() }] };

function swcOptions() {
  return {
    sourceMaps: 'inline',
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      keepClassNames: true,
    },
    module: { type: 'es6' },
  };
}

const shared = {
  transform,
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  setupFiles: ['<rootDir>/test/support/jest/load-esm.mjs'],
};

/** There no test may be skipped; the shape of the code is the same in both modes. */
const isCluster = process.env.TEST_MODE === 'cluster';

/** Three tiers: rules beside the source, guarantees through HTTP, and the shape of the code itself. */
export default {
  reporters: isCluster ? ['default', '<rootDir>/tools/fail-on-skipped.mjs'] : ['default'],
  projects: [
    { ...shared, displayName: 'unit', rootDir: '.', testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'http',
      rootDir: '.',
      // About what a cluster does not have, all of it: there such a file would have no test.
      testPathIgnorePatterns: isCluster ? ['\\.embedded\\.test\\.ts$'] : [],
      testMatch: ['<rootDir>/test/contexts/**/*.test.ts', '<rootDir>/test/faults/**/*.test.ts'],
    },
    { ...shared, displayName: 'architecture', rootDir: '.', testMatch: ['<rootDir>/test/architecture/**/*.test.ts'] },
  ].filter(({ displayName }) => !isCluster || displayName !== 'architecture'),
  testTimeout: 60_000,
  // Jest leaves one core free by default; on two that would be half of them.
  maxWorkers: '100%',
  // Native ESM modules are never unloaded, so a worker grows with every file it runs.
  workerIdleMemoryLimit: '1500MB',
};
