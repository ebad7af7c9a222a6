import { TestEnvironment } from 'jest-environment-node';

const UNDICI_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * undici keeps its global dispatcher on the realm's global object. Jest runs tests in a realm of
 * their own, where the provider SDKs would look for it and find nothing.
 */
export default class ServiceTestEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    if (!globalThis[UNDICI_DISPATCHER]) await fetch('data:,').catch(() => undefined);
    this.global[UNDICI_DISPATCHER] = globalThis[UNDICI_DISPATCHER];
  }
}
