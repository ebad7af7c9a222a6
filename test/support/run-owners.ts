import { RunReconciler } from '../../src/conversations/application/run-reconciler.js';
import { RunHeartbeat } from '../../src/conversations/application/run-heartbeat.js';
import { RunOwner } from '../../src/conversations/engine/run-owner.js';
import { OWNER_SILENT_SECONDS } from '../../src/conversations/engine/limits.js';
import { newId } from '../../src/platform/ids/index.js';
import { type TestService, until } from './harness.js';
import type { Talk } from './talk.js';

export function ownerOf(service: TestService): string {
  return service.app.get(RunOwner).id;
}

/** Hands the thread's run to a process that died `silentFor` seconds ago, as far as the database knows. */
export async function disown({ database }: TestService, { threadId }: Talk, silentFor = 60): Promise<void> {
  const owner = newId();
  await database.query(
    `insert into run_owners (id, started_at, heartbeat_at) values ($1, now(), now() - make_interval(secs => $2::int))`,
    [owner, silentFor],
  );
  await database.query(`update runs set owner_id = $1 where thread_id = $2 and status = 'running'`, [owner, threadId]);
}

/** What a database that was away has heard, or has not: every process has been silent for a minute. */
export async function silenceEverybody({ database }: TestService): Promise<void> {
  await database.query(`update run_owners set heartbeat_at = heartbeat_at - interval '1 minute'`);
}

/** Ends the runs of dead processes now, as this process does once it is long enough in contact with the database. */
export async function endOrphans({ app }: TestService): Promise<number> {
  const reconciler = app.get(RunReconciler);
  // A look that the clock has set off may have begun before there was anything to end, and would be joined.
  const ended = await reconciler.sweep(OWNER_SILENT_SECONDS);
  await app.get(RunHeartbeat).beat();
  return ended + (await reconciler.sweep(OWNER_SILENT_SECONDS));
}

/** Has the process end the thread's run, whose own process is dead. */
export async function endOrphan(service: TestService, talk: Talk): Promise<void> {
  // Again and again: a look judges nobody when this process's heartbeat came long before it.
  await until(async () => {
    await endOrphans(service);
    return (await talk.storedRun())?.status === 'failed';
  }, 'the run is ended');
}

/** Those under way have ended, so that the next one of each process is told what has happened before it. */
export async function heartbeatsOver(...services: readonly TestService[]): Promise<void> {
  for (const { app } of services) await app.get(RunHeartbeat).beat();
}
