import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { message, type StreamedEvent, type TestService, until, useService } from '../../support/harness.js';
import { ON_CLUSTER } from '../../support/modes.js';
import { heartbeatsOver } from '../../support/run-owners.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { endOf, Talk, textOf } from '../../support/talk.js';

const service = useService();

const CANCELLED = { type: 'RUN_FINISHED', outcome: { type: 'cancelled' }, result: { run: { status: 'cancelled' } } };

/** A run that waits for its model, and its reader. */
class RunUnderWay {
  readonly events: StreamedEvent[] = [];
  readonly whole: Promise<StreamedEvent[]>;

  private constructor(
    readonly talk: Talk,
    readonly held: HeldReply,
  ) {
    this.whole = this.read();
  }

  static async start(before: readonly string[]): Promise<RunUnderWay> {
    const held = new HeldReply(before, ['never shown']);
    service.models.next(held.script);
    const run = new RunUnderWay(await Talk.start(service), held);
    await held.asked;
    await until(
      () => run.events.length > 0 && textOf(run.events) === before.join(''),
      'the reader has the text so far',
    );
    return run;
  }

  get id(): string {
    return String(this.events[0]?.event['runId']);
  }

  private async read(): Promise<StreamedEvent[]> {
    for await (const event of this.talk.stream('Hi')) this.events.push(event);
    return this.events;
  }
}

const cancelOf = (runId: string, more: object = {}) => ({ cancel: { runId, ...more } });

describe('the stream of a run that its reader cancels', () => {
  it('continues after the last event that was read and ends as cancelled, with the text so far', async () => {
    const run = await RunUnderWay.start(['so', ' far']);
    const startingAfter = run.events.length;

    const rest = await run.talk.streamedBody(cancelOf(run.id, { startingAfter }));

    expect(endOf(rest)).toMatchObject({
      ...CANCELLED,
      result: { message: { content: 'so far', status: 'incomplete' } },
    });
    await (
      await run.held.asked
    ).disconnected;
    const whole = await run.whole;
    expect(rest).toEqual(whole.slice(startingAfter));
    expect(await run.talk.lines()).toEqual(['user: Hi', 'assistant: so far']);
    run.held.finish();
  });

  it('begins with the first event where none is named, also before there is text', async () => {
    const run = await RunUnderWay.start([]);

    const events = await run.talk.streamedBody(cancelOf(run.id));

    expect(endOf(events)).toMatchObject({ ...CANCELLED, result: { message: null } });
    expect(events).toEqual(await run.whole);
    run.held.finish();
    service.models.next(says('Next'));
    expect(await run.talk.run('Again')).toMatchObject({ status: 200, body: { message: { content: 'Next' } } });
  });

  it('is the same for two readers that cancel at once', async () => {
    const run = await RunUnderWay.start(['so far']);

    const [one, two] = await Promise.all([
      run.talk.streamedBody(cancelOf(run.id)),
      run.talk.streamedBody(cancelOf(run.id)),
    ]);

    expect(endOf(one)).toMatchObject(CANCELLED);
    expect([one, two]).toEqual([await run.whole, await run.whole]);
    run.held.finish();
  });

  it('is that of an ended run, which stays as it is; 410 when its events are no longer kept', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('reply'));
    const whole = await talk.streamed('Hi');
    const runId = String(whole[0]?.event['runId']);

    expect(await talk.streamedBody(cancelOf(runId, { startingAfter: 2 }))).toEqual(whole.slice(2));

    expect(await talk.storedAs(runId)).toMatchObject({ body: { run: { status: 'completed' } } });
    const old = newId();
    await service.database.query(
      `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, provider, model,
                         use_own_api_key, created_at, completed_at)
       select $1::uuid, organization_id, thread_id, agent_id, owner_id, gen_random_uuid(), 'completed', provider, model,
              use_own_api_key, created_at, completed_at - interval '6 minutes' from runs where id = $2`,
      [old, runId],
    );
    const body = cancelOf(old);
    const gone = await service.http('POST', `${talk.path}/runs/stream`, { key: talk.key, body });
    expect(gone).toMatchObject({ status: 410, body: { error: 'gone' } });
  });

  it('takes no Idempotency-Key: the key still names the next message', async () => {
    const run = await RunUnderWay.start(['so far']);
    const headers = { 'idempotency-key': 'stop' };
    expect(endOf(await run.talk.streamedBody(cancelOf(run.id), headers))).toMatchObject(CANCELLED);
    run.held.finish();
    service.models.next(says('Next'));
    expect(textOf(await run.talk.streamedBody(message('Again'), headers))).toBe('Next');
  });

  it.each([
    ['with a message', (runId: string) => ({ ...message('Hi'), ...cancelOf(runId) })],
    ['with a rejoin', (runId: string) => ({ rejoin: { runId }, ...cancelOf(runId) })],
    ['without a run', () => ({ cancel: {} })],
    ['before the first event', (runId: string) => cancelOf(runId, { startingAfter: -1 })],
  ])('is not asked for %s: the run continues', async (_how, bodyOf) => {
    const run = await RunUnderWay.start(['so far, ']);

    const { talk } = run;
    const { status } = await service.http('POST', `${talk.path}/runs/stream`, { key: talk.key, body: bodyOf(run.id) });

    expect(status).toBe(400);
    run.held.finish();
    expect(textOf(await run.whole)).toBe('so far, never shown');
  });
});

describe('a run of another process', () => {
  let replica: TestService;

  // Before the run begins: an embedded process ends the runs that it finds when it starts.
  beforeAll(async () => {
    replica = await service.replica();
  });
  afterAll(() => replica.close());

  it('ends with the next heartbeat of that process after a reader cancels it, also where no signal arrives', async () => {
    const run = await RunUnderWay.start(['so far']);
    const options = { key: run.talk.key, body: cancelOf(run.id, { startingAfter: 1 }) };
    const cancelling = replica.http('POST', `${run.talk.path}/runs/stream`, options);
    const requested = 'select 1 from runs where id = $1 and cancel_requested_at is not null';
    await until(async () => (await service.database.query(requested, [run.id])).length === 1, 'the request is stored');
    await heartbeatsOver(service);

    expect(endOf(await run.whole)).toMatchObject(CANCELLED);
    run.held.finish();
    const { status, text } = await cancelling;
    expect(status).toBe(200);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as object);
    // Without Redis nothing in that process tells what the reader has had.
    expect(events).toEqual((await run.whole).map(({ event }) => event).slice(ON_CLUSTER ? 1 : -1));
  });
});
