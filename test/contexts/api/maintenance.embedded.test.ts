import { expect, it } from '@jest/globals';
import { OPEN_DATABASE, type OpenDatabase } from '../../../src/platform/database/index.js';
import { dueTables } from '../../../src/platform/maintenance/embedded-database.js';
import { CHECK_EVERY_MS } from '../../../src/platform/maintenance/limits.js';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { until, useService } from '../../support/harness.js';
import { embeddedOnly } from '../../support/modes.js';

/** Moves the clock by a minute, for tasks that run once a minute. */
class MinuteClock extends SystemClock {
  private readonly tasks = new Set<() => void>();

  override every(ms: number, task: () => void): () => void {
    const stop = super.every(ms, task);
    if (ms === CHECK_EVERY_MS) this.tasks.add(task);
    return () => {
      this.tasks.delete(task);
      stop();
    };
  }

  aMinutePasses(): void {
    for (const task of this.tasks) task();
  }
}

embeddedOnly('the embedded database', () => {
  const clock = new MinuteClock();
  const service = useService({ clock });

  it('is maintained by the service, and its responses stay the same', async () => {
    const { native } = service.app.get<OpenDatabase>(OPEN_DATABASE);
    if (native.kind !== 'embedded') throw new Error('not embedded');
    const isDue = async (): Promise<boolean> => {
      await native.pglite.query('select pg_stat_force_next_flush()');
      return (await dueTables(native.pglite)).some(({ name }) => name === 'agents');
    };
    const { key } = await service.organization();
    const body = { name: 'Kept', provider: { type: 'anthropic' } };
    const { id } = (await service.http<{ id: string }>('POST', '/v1/agents', { key, body })).body;
    for (let update = 0; update < 60; update += 1)
      await service.database.query('update agents set name = name where id = $1::uuid', [id]);
    await until(isDue, 'dead rows are counted');
    clock.aMinutePasses();
    await until(async () => !(await isDue()), 'the table is in order');
    expect((await service.http('GET', `/v1/agents/${id}`, { key })).body).toMatchObject({ id, name: 'Kept' });
  });
});
