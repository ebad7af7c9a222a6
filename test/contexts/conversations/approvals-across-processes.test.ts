import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Client } from 'pg';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import { approve, ASKS_ALWAYS, decline, NotingTool } from '../../support/approvals.js';
import { type Answer, startService, type TestService, until } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { type RunResult, Talk } from '../../support/talk.js';
import { connectToTestDatabase } from '../../support/test-database.js';
import { clusterOnly } from '../../support/modes.js';

describe('a run that waits for approval', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({ extensions: scriptedRuns });
  });
  afterAll(() => service.close());

  it('waits across restarts: another process shows its requests and resumes it', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const [pay, gone] = [new NotingTool('pay'), new NotingTool('gone')];
    during(talk.threadId, { tools: [pay.offered, gone.offered] });
    const asked = [
      { id: 'a', name: 'pay', input: { sum: 1 } },
      { id: 'b', name: 'pay', input: { sum: 2 } },
      { id: 'c', name: 'gone' },
    ];
    service.models.next(answers({ text: 'Shall I?', calls: asked }));
    const { body } = await talk.run('Pay');

    // The process that ran it is no longer needed.
    const restarted = await service.replica();
    during(talk.threadId, { tools: [pay.offered] });
    const later = talk.on(restarted);
    const { interrupts } = (await later.storedAs(body.run.id)).body;
    expect(interrupts).toEqual(body.interrupts);
    const [a, b, c] = interrupts;
    if (!a || !b || !c) throw new Error('three interrupts');
    service.models.next(says('One is paid.'));
    const resumed = await later.resume(approve(c), decline(b, 'too dear'), approve(a));

    expect(resumed).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'One is paid.' } },
    });
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'a', output: 'pay {"sum":1}', isError: false },
      { id: 'b', output: expect.stringContaining('too dear'), isError: true },
      { id: 'c', output: expect.stringContaining('no tool named gone'), isError: true },
    ]);
    expect([pay.inputs, gone.inputs]).toEqual([[{ sum: 1 }], []]);
    const [, before, after] = await talk.messages();
    expect(before?.toolCalls?.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'approved'],
      ['b', 'denied'],
      ['c', 'approved'],
    ]);
    expect(after?.toolCalls?.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'completed'],
      ['c', 'failed'],
    ]);
    await restarted.close();
  });
});

/** Not with the embedded database, whose single connection serializes all statements. */

const GATE = 4_711;

clusterOnly('a message that comes to one process while another stores that calls wait for approval', () => {
  let service: TestService;
  let replica: TestService;
  let gate: Client;

  beforeAll(async () => {
    service = await startService({ extensions: scriptedRuns });
    replica = await service.replica();
    gate = await connectToTestDatabase(service.database);
  });
  afterAll(async () => {
    await gate.end();
    await replica.close();
    await service.close();
  });
  beforeEach(() => {
    service.models.reset();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await gate.query('drop trigger if exists hold_end on runs');
  });

  /** Ends of this kind are executed but not committed until the returned function is called. */
  async function holdEnds(): Promise<() => Promise<unknown>> {
    await gate.query(
      `create or replace function hold_end() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$`,
    );
    await gate.query(
      `create trigger hold_end after update on runs for each row
       when (new.status = 'requires_action') execute function hold_end()`,
    );
    await gate.query(`select pg_advisory_lock(${GATE})`);
    return () => gate.query(`select pg_advisory_unlock(${GATE})`);
  }

  async function waiting(how: string): Promise<boolean> {
    const { rowCount } = await gate.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and ${how}`,
    );
    return rowCount === 1;
  }

  /** The second process begins to store a message before the first process commits the end. */
  async function messageAtTheEnd(talk: Talk): Promise<{ asked: Answer<RunResult>; next: Answer<RunResult> }> {
    service.models.next(calls('pay', { sum: 5 }));
    const release = await holdEnds();
    const asking = talk.run('Pay');
    await until(() => waiting(`wait_event = 'advisory'`), 'the end is carried out');
    service.models.next(says('Fine.'));
    const next = talk.on(replica).run('Never mind');
    // The server shows only the beginning of a longer text.
    await until(
      () => waiting(`wait_event <> 'advisory' and query like '%current_thread as%'`),
      'the start waits for it',
    );
    await release();
    return { asked: await asking, next: await next };
  }

  it.each([
    ['was stored with its calls before', (): void => undefined],
    [
      'is stored with the end alone',
      (): void => void jest.spyOn(service.app.get(RunRepository), 'checkpoint').mockResolvedValueOnce(undefined),
    ],
  ])('declines them where the message %s: no call waits forever, and the model reads this', async (_how, prepare) => {
    prepare();
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });

    const { asked, next } = await messageAtTheEnd(talk);

    expect(asked).toMatchObject({ status: 200, body: { run: { status: 'requires_action' } } });
    expect(next).toMatchObject({ status: 200, body: { message: { content: 'Fine.' } } });
    const [, question, ...rest] = await talk.messages();
    expect(question?.toolCalls).toMatchObject([{ id: 'call_pay', status: 'denied' }]);
    expect(rest.map(({ content }) => content)).toEqual(['Never mind', 'Fine.']);
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toMatchObject([
      { isError: true, output: expect.stringContaining('next message') },
    ]);
    const [row] = await service.database.query(
      `select answers_run_id as answered, (select awaiting_run_id from threads where threads.id = thread_id) as awaiting
       from runs where id = $1`,
      [next.body.run.id],
    );
    expect(row).toEqual({ answered: asked.body.run.id, awaiting: null });
    expect(pay.inputs).toEqual([]);
  });
});
