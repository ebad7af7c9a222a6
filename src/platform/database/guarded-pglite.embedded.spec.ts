import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inMemory, preparedCluster } from '../../../test/support/prepared-cluster.js';
import { DatabaseUnavailable } from './database-failure.js';
import type { OpenDatabase } from './database-handle.js';
import { openRunningPglite, startPglite } from './embedded-database.js';
import type { GuardedPglite } from './guarded-pglite.js';

/** More than the engine's stack would hold if each left its part there. */
const MANY = 600;

/** An address that the engine's memory does not have: the first store there is a trap. */
const OUTSIDE = -65_536;

describe('the engine of the embedded database', () => {
  let pglite: GuardedPglite;
  let open: OpenDatabase;
  beforeEach(async () => {
    const started = await startPglite(inMemory(await preparedCluster([])));
    open = await openRunningPglite(started, []);
    pglite = started;
  });
  afterEach(() => pglite.close());

  const stackPointer = (): { value: number } =>
    (pglite.Module as unknown as { readonly ___stack_pointer: { value: number } }).___stack_pointer;

  it('loses nothing to errors of statements, of which a service has thousands', async () => {
    for (let failed = 0; failed < MANY; failed += 1)
      await expect(pglite.query('selec $1', [1])).rejects.toMatchObject({ code: '42601' });
    expect(await open.database.query('select 1 as answer')).toEqual([{ answer: 1 }]);
  });

  it('answers nothing more after a crash, which it reports once', async () => {
    const crashes: Error[] = [];
    pglite.onCrash = (error) => crashes.push(error);
    const sound = stackPointer().value;
    stackPointer().value = OUTSIDE;
    const crashing = open.database.query('select 1');
    await expect(crashing).rejects.toThrow(DatabaseUnavailable);
    // For the timers of the engine, which need a stack.
    stackPointer().value = sound;
    await expect(open.database.query('select 1')).rejects.toThrow(DatabaseUnavailable);
    expect(crashes).toMatchObject([{ code: '57P02', cause: { name: 'RuntimeError' } }]);
  });
});
