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

/** Makes a process that died the owner of the thread's run. @param silentFor seconds since its last heartbeat */
export async function disown({ database }: TestService, { threadId }: Talk, silentFor = 60): Promise<void> {
  const owner = newId();
  await database.query(
    `insert into run_owners (id, started_at, heartbeat_at) values ($1, now(), now() - make_interval(secs => $2::int))`,
    [owner, silentFor],
  );
  await database.query(`update runs set owner_id = $1 where thread_id = $2 and status = 'running'`, [owner, threadId]);
}

/** Makes the last heartbeat of every process a minute older, as after an outage of the database. */
export async function ageHeartbeats({ database }: TestService): Promise<void> {
  await database.query(`update run_owners set heartbeat_at = heartbeat_at - interval '1 minute'`);
}

/** Ends the runs of dead processes, as the process does after enough contact with the database. */
export async function endOrphans({ app }: TestService): Promise<number> {
  const reconciler = app.get(RunReconciler);
  // A sweep that the clock has started may have begun too early, and a second call would join it.
  const ended = await reconciler.sweep(OWNER_SILENT_SECONDS);
  await app.get(RunHeartbeat).beat();
  return ended + (await reconciler.sweep(OWNER_SILENT_SECONDS));
}

/** Makes the process end the thread's run, whose owner is dead. */
export async function endOrphan(service: TestService, talk: Talk): Promise<void> {
  // Repeated, because a sweep ends no run if the process's own heartbeat is too old.
  await until(async () => {
    await endOrphans(service);
    return (await talk.storedRun())?.status === 'failed';
  }, 'the run is ended');
}

/** Resolves when each process has sent a heartbeat that began after this call. */
export async function heartbeatsOver(...services: readonly TestService[]): Promise<void> {
  for (const { app } of services) await app.get(RunHeartbeat).beat();
}
