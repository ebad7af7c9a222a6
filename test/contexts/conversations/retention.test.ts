import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ApplyRetention } from '../../../src/conversations/jobs/apply-retention.job.js';
import { RemoveDeletedThreads } from '../../../src/conversations/jobs/remove-deleted-threads.job.js';
import { ThreadRemovalRepository } from '../../../src/conversations/persistence/thread-removal.repository.js';
import { PurgeTraces } from '../../../src/observability/jobs/purge-traces.job.js';
import { approve, ASKS_ALWAYS, decline, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { ManualClock } from '../../support/manual-clock.js';
import { calls, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

const DAY_MS = 86_400_000;
const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

afterEach(() => {
  jest.restoreAllMocks();
});

async function purge(): Promise<void> {
  await service.app.get(ApplyRetention).process(activeJob({}));
  await service.app.get(PurgeTraces).process(activeJob({}));
}

async function turn(talk: Talk, question: string): Promise<void> {
  service.models.next(says(`Reply to ${question}`));
  expect((await talk.run(question)).status).toBe(200);
}

async function startedWith(...options: string[]): Promise<Talk> {
  const talk = await Talk.start(service);
  if (options.length > 0) await service.cli('org', 'set', talk.organization.id, ...options);
  return talk;
}

function exists(talk: Talk): Promise<number> {
  return service.http('GET', talk.path, { key: talk.key }).then(({ status }) => status);
}

describe('an organization that keeps conversations for some days', () => {
  let talk: Talk;
  beforeEach(async () => {
    // Else the job would first serve the organizations of earlier tests.
    await service.database.query('update organizations set retain_days = null');
    talk = await startedWith('--retain-days', '30');
  });

  it('shows the days to its operator, who can change and remove them', async () => {
    const { id } = talk.organization;
    expect(await service.cli('org', 'show', id)).toMatchObject({ retainDays: 30 });
    expect(await service.cli('org', 'set', id, '--plan', 'team')).toMatchObject({ retainDays: 30 });
    expect(await service.cli('org', 'set', id, '--retain-days', 'off')).toMatchObject({ retainDays: null });
    for (const days of ['0', '36501', 'never'])
      await expect(service.cli('org', 'set', id, '--retain-days', days)).rejects.toThrow(/retain-?days/i);
  });

  it('loses those without activity for so long, whole, and no other organization loses any', async () => {
    const other = await startedWith();
    const lively = await talk.another();
    for (const each of [talk, other, lively]) await turn(each, 'canary');
    clock.jump(29 * DAY_MS);
    await turn(lively, 'later');
    await purge();
    expect((await talk.storedRows()).length).toBe(4);
    clock.jump(2 * DAY_MS);
    await purge();
    expect([await exists(talk), await talk.storedRows()]).toEqual([404, []]);
    expect(await exists(lively)).toBe(200);
    expect((await other.storedRows()).length).toBe(4);
    await service.cli('org', 'set', talk.organization.id, '--retain-days', 'off');
    clock.jump(31 * DAY_MS);
    await purge();
    expect(await exists(lively)).toBe(200);
  });

  it('loses old exchanges of those that go on, which neither readers nor models see again', async () => {
    for (const question of ['first', 'second']) await turn(talk, question);
    clock.jump(20 * DAY_MS);
    await turn(talk, 'third');
    clock.jump(11 * DAY_MS);
    await purge();
    expect(await talk.lines()).toEqual(['user: third', 'assistant: Reply to third']);
    // One message each of user and agent, their run and its trace.
    expect((await talk.storedRows()).length).toBe(4);
    await turn(talk, 'fourth');
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).not.toContain('second');
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('third');
  });

  it('loses an old exchange of more messages than are read at a time', async () => {
    await turn(talk, 'first');
    await service.database.query(
      `insert into messages (id, organization_id, thread_id, run_id, role, content, status, created_at)
       select gen_random_uuid(), organization_id, thread_id, run_id, role, content, status, created_at
       from messages, generate_series(1, 600) where thread_id = $1 and role = 'assistant'`,
      [talk.threadId],
    );
    clock.jump(20 * DAY_MS);
    await turn(talk, 'second');
    clock.jump(11 * DAY_MS);
    await purge();
    expect(await talk.lines()).toEqual(['user: second', 'assistant: Reply to second']);
  });

  it('keeps an exchange whose answer to an approval is newer, with its question', async () => {
    const asking = await talk.withAnotherAgent(ASKS_ALWAYS);
    await turn(asking, 'old');
    during(asking.threadId, { tools: [new NotingTool('note').offered] });
    service.models.next(calls('note', {}));
    const { interrupts } = (await asking.run('Note it')).body;
    clock.jump(DAY_MS / 2);
    service.models.next(says('Done.'));
    expect((await asking.resume(...interrupts.map((interrupt) => approve(interrupt)))).status).toBe(200);
    clock.jump(29.75 * DAY_MS);
    await purge();
    const roles = (await asking.messages()).map(({ role, content }) => (role === 'user' ? content : role));
    expect(roles).toEqual(['Note it', 'assistant', 'assistant']);
  });

  it('keeps a newer run that wrote nothing, when the exchange that it belonged to goes', async () => {
    const asking = await talk.withAnotherAgent(ASKS_ALWAYS);
    during(asking.threadId, { tools: [new NotingTool('note').offered] });
    service.models.next(calls('note', {}));
    const { interrupts, run: asked } = (await asking.run('Note it')).body;
    clock.jump(DAY_MS / 2);
    service.models.next(refuses(400));
    const failed = await asking.resume(...interrupts.map((interrupt) => decline(interrupt)));
    const answered = (await asking.storedRun())?.id ?? '';
    expect([failed.status, answered === asked.id]).toEqual([expect.any(Number), false]);
    clock.jump(60_000);
    await turn(asking, 'new');
    clock.jump(29.75 * DAY_MS);
    await purge();
    expect(await asking.lines()).toEqual(['user: new', 'assistant: Reply to new']);
    const statusOf = async (id: string): Promise<number> =>
      (await service.http('GET', `${asking.path}/runs/${id}`, { key: asking.key })).status;
    expect([await statusOf(asked.id), await statusOf(answered)]).toEqual([404, 200]);
  });

  it('keeps one with a run under way until the run has ended', async () => {
    await turn(talk, 'before');
    const held = new HeldReply(['All of '], ['it.']);
    service.models.next(held.script);
    const events: string[] = [];
    for await (const { event } of talk.stream('Go on')) {
      events.push(event.type);
      if (event.type !== 'TEXT_MESSAGE_CONTENT' || events.filter((type) => type === event.type).length > 1) continue;
      clock.jump(31 * DAY_MS);
      await purge();
      held.finish();
    }
    expect(events.at(-1)).toBe('RUN_FINISHED');
    expect(await talk.lines()).toEqual([
      'user: before',
      'assistant: Reply to before',
      'user: Go on',
      'assistant: All of it.',
    ]);
    await purge();
    expect(await talk.lines()).toEqual(['user: Go on', 'assistant: All of it.']);
  });

  it('loses at once what readers see, and the rest although a removal was cut short', async () => {
    await turn(talk, 'canary');
    clock.jump(31 * DAY_MS);
    const removed = jest
      .spyOn(service.app.get(ThreadRemovalRepository), 'removeRuns')
      .mockRejectedValueOnce(new Error());
    await expect(service.app.get(ApplyRetention).process(activeJob({}))).rejects.toThrow();
    expect(await exists(talk)).toBe(404);
    expect((await talk.storedRows()).length).toBeGreaterThan(0);
    removed.mockRestore();
    await service.app.get(RemoveDeletedThreads).process(activeJob({}));
    expect(await talk.storedRows()).toEqual([]);
  });
});
