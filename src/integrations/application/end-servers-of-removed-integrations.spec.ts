import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestLocalServers, useLocalServers } from '../../../test/support/local-servers.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { FOLDER_LEFT_MS, FOLDERS_BATCH, FOLDERS_EVERY_MS } from '../limits.js';
import { ConnectionPool } from '../mcp/connection-pool.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { EndServersOfRemovedIntegrations } from './end-servers-of-removed-integrations.js';

/** Integrations without a database. */
class KnownIntegrations extends IntegrationRepository {
  readonly present = new Set<string>();
  /** How many ids each call looked up. */
  readonly batches: number[] = [];
  isDown = false;

  override findRemoved(ids: readonly string[]): Promise<string[]> {
    this.batches.push(ids.length);
    return this.isDown
      ? Promise.reject(new Error('The database is down'))
      : Promise.resolve(ids.filter((id) => !this.present.has(id)));
  }
}

const processes = useLocalServers();
let clock: ManualClock;
let local: TestLocalServers;
let known: KnownIntegrations;
let removing: EndServersOfRemovedIntegrations;

beforeEach(() => {
  clock = new ManualClock();
  local = processes.begin(clock);
  known = new KnownIntegrations(Object.create(null) as never);
  const { servers, logger } = local;
  removing = new EndServersOfRemovedIntegrations(
    known,
    new ConnectionPool(clock),
    servers,
    clock,
    logger,
    new EventBus(),
  );
});
afterEach(() => removing.beforeApplicationShutdown());

/** A folder that was last changed `ageMs` ago. */
function folder(ageMs: number): string {
  const path = join(local.folders, newId());
  mkdirSync(path, { recursive: true });
  const changed = new Date(clock.now().getTime() - ageMs);
  utimesSync(path, changed, changed);
  return path;
}

const areGone = (paths: readonly string[]): boolean => !paths.some((path) => existsSync(path));
const gone = (...paths: readonly string[]): Promise<void> => until(() => areGone(paths), 'the folders to be removed');

/** Advances the clock until then: a timer that fires while folders are being removed does nothing. */
const goneInTime = (...paths: readonly string[]): Promise<void> =>
  until(async () => {
    await clock.advance(FOLDERS_EVERY_MS);
    return areGone(paths);
  }, 'the folders to be removed later');

describe('the folders of removed integrations', () => {
  it('are removed at the start and every hour, once they are old enough', async () => {
    const [old, young] = [folder(FOLDER_LEFT_MS + 1), folder(FOLDER_LEFT_MS - 1)];
    removing.onApplicationBootstrap();
    await gone(old);
    expect(existsSync(young)).toBe(true);
    const next = folder(FOLDER_LEFT_MS + 1);
    await goneInTime(young, next);
  });

  it('are looked up in batches, and those of existing integrations stay', async () => {
    const [kept = '', ...left] = Array.from({ length: FOLDERS_BATCH + 2 }, () => folder(FOLDER_LEFT_MS + 1));
    known.present.add(kept.slice(-36));
    removing.onApplicationBootstrap();
    await gone(...left);
    expect([known.batches, existsSync(kept)]).toEqual([[FOLDERS_BATCH, 2], true]);
  });

  it('stay while the database is down, and are removed later', async () => {
    const old = folder(FOLDER_LEFT_MS + 1);
    known.isDown = true;
    removing.onApplicationBootstrap();
    await until(() => local.logger.lines.length > 0, 'the log line');
    expect(existsSync(old)).toBe(true);
    known.isDown = false;
    await goneInTime(old);
  });

  it('stay once the service stops', async () => {
    removing.onApplicationBootstrap();
    await removing.beforeApplicationShutdown();
    const old = folder(FOLDER_LEFT_MS + 1);
    await clock.advance(2 * FOLDERS_EVERY_MS);
    expect([existsSync(old), clock.pending()]).toEqual([true, 0]);
  });
});
