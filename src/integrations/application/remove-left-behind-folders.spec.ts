import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestLocalServers, useLocalServers } from '../../../test/support/local-servers.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { newId } from '../../platform/ids/index.js';
import { FOLDER_LEFT_MS, FOLDERS_BATCH, FOLDERS_EVERY_MS } from '../limits.js';
import { LeftBehindIntegrations } from '../persistence/left-behind-integrations.repository.js';
import { RemoveLeftBehindFolders } from './remove-left-behind-folders.js';

/** Knows the integrations without a database. */
class KnownIntegrations extends LeftBehindIntegrations {
  readonly present = new Set<string>();
  /** How many it was asked for at once. */
  readonly asked: number[] = [];
  isDown = false;

  override findRemoved(ids: readonly string[]): Promise<string[]> {
    this.asked.push(ids.length);
    return this.isDown
      ? Promise.reject(new Error('The database is down'))
      : Promise.resolve(ids.filter((id) => !this.present.has(id)));
  }
}

const processes = useLocalServers();
let clock: ManualClock;
let local: TestLocalServers;
let known: KnownIntegrations;
let removing: RemoveLeftBehindFolders;

beforeEach(() => {
  clock = new ManualClock();
  local = processes.begin(clock);
  known = new KnownIntegrations(Object.create(null) as never);
  removing = new RemoveLeftBehindFolders(known, local.servers, clock, local.logger);
});
afterEach(() => removing.beforeApplicationShutdown());

/** One that was last changed that long ago. */
function folder(ageMs: number): string {
  const path = join(local.folders, newId());
  mkdirSync(path, { recursive: true });
  const changed = new Date(clock.now().getTime() - ageMs);
  utimesSync(path, changed, changed);
  return path;
}

const areGone = (paths: readonly string[]): boolean => !paths.some((path) => existsSync(path));
const gone = (...paths: readonly string[]): Promise<void> => until(() => areGone(paths), 'they are removed');

/** One hour after the other passes: a look that comes due while the last one is under way is left out. */
const goneInTime = (...paths: readonly string[]): Promise<void> =>
  until(async () => {
    await clock.advance(FOLDERS_EVERY_MS);
    return areGone(paths);
  }, 'they are removed later');

describe('folders of integrations that are gone', () => {
  it('are removed at the start and every hour, the young ones later', async () => {
    const [old, young] = [folder(FOLDER_LEFT_MS + 1), folder(FOLDER_LEFT_MS - 1)];
    removing.onApplicationBootstrap();
    await gone(old);
    expect(existsSync(young)).toBe(true);
    const next = folder(FOLDER_LEFT_MS + 1);
    await goneInTime(young, next);
  });

  it('are asked for a batch at a time, and the others stay', async () => {
    const [kept = '', ...left] = Array.from({ length: FOLDERS_BATCH + 2 }, () => folder(FOLDER_LEFT_MS + 1));
    known.present.add(kept.slice(-36));
    removing.onApplicationBootstrap();
    await gone(...left);
    expect([known.asked, existsSync(kept)]).toEqual([[FOLDERS_BATCH, 2], true]);
  });

  it('stay while it cannot be known whether they are, and for the next time', async () => {
    const old = folder(FOLDER_LEFT_MS + 1);
    known.isDown = true;
    removing.onApplicationBootstrap();
    await until(() => local.logger.lines.length > 0, 'it is logged');
    expect(existsSync(old)).toBe(true);
    known.isDown = false;
    await goneInTime(old);
  });

  it('are left alone once the service stops', async () => {
    removing.onApplicationBootstrap();
    await removing.beforeApplicationShutdown();
    const old = folder(FOLDER_LEFT_MS + 1);
    await clock.advance(2 * FOLDERS_EVERY_MS);
    expect([existsSync(old), clock.pending()]).toEqual([true, 0]);
  });
});
