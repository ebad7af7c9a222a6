import { expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { until, useService } from '../../support/harness.js';
import { clusterOnly } from '../../support/modes.js';
import { disown, endOrphan, ownerOf } from '../../support/run-owners.js';
import { HeldReply } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const service = useService();

// Not with the embedded database, whose single connection serializes all statements.
clusterOnly('the reply of a run that another process has ended', () => {
  it('is not stored behind a run whose start has the lock of the thread', async () => {
    const replica = await service.replica();
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half'], [' and half']);
    service.models.next(held.script);
    const running = talk.run('Hi');
    await held.asked;
    await disown(service, talk);
    await endOrphan(replica, talk);

    await service.database.transaction(async (transaction) => {
      await transaction.query(
        `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, provider, model, use_own_api_key)
         values ($1, $2, $3, $4, $5, $6, 'running', now(), 'anthropic', 'any', false)`,
        [newId(), talk.organization.id, talk.threadId, talk.agentId, ownerOf(replica), newId()],
      );
      await transaction.query('update threads set revision = revision + 1 where id = $1', [talk.threadId]);
      held.finish();
      await until(async () => {
        const waiting = await transaction.query(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      }, 'the reply waits for the start');
    });

    expect(await running).toMatchObject({ status: 500 });
    expect(await talk.lines()).toEqual(['user: Hi']);
    await replica.close();
  });
});
