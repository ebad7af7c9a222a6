import { afterAll, beforeAll } from '@jest/globals';
import { CuttableProxy } from './cuttable-proxy.js';
import { until, useService } from './harness.js';
import { ManualClock } from './manual-clock.js';
import { ON_CLUSTER } from './modes.js';
import { refuseRows } from './refuse-rows.js';
import { scriptedRuns } from './scripted-runs.js';

type BringBack = () => Promise<unknown>;

/** Time that passes between two looks at what the service does in an outage. */
export const STEP_MS = 250;

/** A service for all tests of a file, which make its database unavailable. On a cluster it reaches the server through a proxy. */
export function useDatabaseOutages() {
  const server = ON_CLUSTER ? process.env['DATABASE_URL'] : undefined;
  let proxy: CuttableProxy | undefined;
  beforeAll(async () => {
    if (server === undefined) return;
    const url = new URL(server);
    proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    process.env['DATABASE_URL'] = url.href;
  });
  const clock = new ManualClock();
  const service = useService({ clock, extensions: scriptedRuns });
  afterAll(() => proxy?.close());

  /** The embedded database cannot become unreachable, but it can refuse statements, as with a full disk. */
  const refuseEnds = (): Promise<BringBack> =>
    refuseRows(service.database, { change: 'update', on: 'runs', when: "new.status <> 'running'", error: 'disk_full' });

  /** @returns a function that brings the database back */
  const makeUnavailable = async (how: 'cut' | 'stalled' | 'answers lost' = 'cut'): Promise<BringBack> => {
    if (!proxy) return refuseEnds();
    const way = proxy;
    if (how === 'cut') way.cut();
    else way.stall(how === 'stalled' ? 'everything' : 'answers');
    return () => {
      // Bytes under way when the network failed are lost and do not arrive late.
      way.cut();
      way.restore();
      return Promise.resolve();
    };
  };

  /**
   * The result of `work` while the clock advances, since the service pauses between attempts to store an end. Slow enough
   * that the run does not time out on a busy machine.
   */
  const passing = async <Value>(work: Promise<Value>, stepMs = STEP_MS): Promise<Value> => {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    work.then(settle, settle);
    await until(
      async () => {
        if (!settled) await clock.advance(stepMs);
        return settled;
      },
      'the run ends',
      { everyMs: 25 },
    );
    return work;
  };

  return { clock, service, server, refuseEnds, makeUnavailable, passing };
}
