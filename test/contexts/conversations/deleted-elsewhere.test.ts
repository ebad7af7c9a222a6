import { describe, expect, it } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { says } from '../../support/scripted-models.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';

/** Longer than a process serves a thread to other requests without reading it. */
const PAUSE_MS = 60_000;

const clock = new ManualClock();
const service = useService({ clock });

async function talkOfTwoTurns(): Promise<{ talk: Talk; runId: string }> {
  service.models.always(says('ok'));
  const talk = await Talk.start(service);
  await talk.run('Hi');
  const { body } = await talk.run('Hi again');
  return { talk, runId: body.run.id };
}

/** As another process does, whose events this one does not get. */
function deleteElsewhere(threadId: string): Promise<unknown> {
  return service.database.query('update threads set deleted_at = now() where id = $1', [threadId]);
}

describe('a thread of which this process remembers the agent', () => {
  it('is not read again for a run after a pause', async () => {
    const { talk } = await talkOfTwoTurns();
    await clock.advance(PAUSE_MS);
    const sent = await statementsOf(service.database, () => talk.run('After the pause'));
    expect(sent.filter((sql) => /^\s*select .* from threads\b/s.test(sql))).toEqual([]);
    expect(sent.filter((sql) => sql.includes('insert into runs'))).toHaveLength(1);
  });

  it('is absent for runs, and their events are absent, once another process has deleted it', async () => {
    const { talk, runId } = await talkOfTwoTurns();
    await deleteElsewhere(talk.threadId);
    const requests = service.models.requests.length;
    const absent = { status: 404, body: { error: 'not_found' } };
    expect(await talk.run('Hi')).toMatchObject(absent);
    const streamed = (body: object) => service.http('POST', `${talk.path}/runs/stream`, { key: talk.key, body });
    expect(await streamed(message('Hi'))).toMatchObject(absent);
    expect(await streamed({ rejoin: { runId } })).toMatchObject(absent);
    expect(service.models.requests).toHaveLength(requests);
  });
});
