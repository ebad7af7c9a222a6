import { describe } from '@jest/globals';

/** Set by `tools/run-tests.mjs`: this run is on PostgreSQL and Redis. */
export const ON_CLUSTER = process.env['TEST_MODE'] === 'cluster';

/** Groups tests of what the embedded mode does not have; a run on a cluster fails when anything in it is skipped. */
export const clusterOnly = ON_CLUSTER ? describe : describe.skip;

/** Left out there instead of skipped: what follows is about what a cluster does not have. */
export function embeddedOnly(name: string, tests: () => void): void {
  if (!ON_CLUSTER) describe(name, tests);
}
