import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { OUTAGE_MS, OWNER_SILENT_SECONDS, STORE_AGAIN_MS } from '../../src/conversations/engine/limits.js';
import { RunOwner } from '../../src/conversations/engine/run-owner.js';
import { RunReader } from '../../src/conversations/persistence/run-reader.repository.js';
import { RunRepository } from '../../src/conversations/persistence/run.repository.js';
import type { PromptVerdict } from '../../src/conversations/index.js';
import { AgentHooksRepository } from '../../src/hooks/persistence/agent-hooks.repository.js';
import { IntegrationStateRepository } from '../../src/integrations/persistence/integration-state.repository.js';
import { DatabaseUnavailable } from '../../src/platform/database/index.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../support/approvals.js';
import { countingRuns } from '../support/counted-runs.js';
import { STEP_MS, useDatabaseOutages } from '../support/database-outages.js';
import { message, until } from '../support/harness.js';
import { heldRequest, heldRun } from '../support/held-run.js';
import { anthropicWire } from '../support/provider-wire.js';
import { refuseRows } from '../support/refuse-rows.js';
import { calls, HeldReply, refuses, says } from '../support/scripted-models.js';
import { during } from '../support/scripted-runs.js';
import { endOf, Talk } from '../support/talk.js';

const { clock, service, refuseEnds, makeUnavailable, passing } = useDatabaseOutages();

/** Waits for the stored end, which the service tries again every two seconds. */
async function untilStored(talk: Talk): Promise<void> {
  await until(async () => {
    await clock.advance(STORE_AGAIN_MS);
    return (await talk.storedRun().catch(() => undefined))?.status === 'failed';
  }, 'the end of the run is stored');
}

const WAITING = '\n\n: waiting for the database\n\n';

/** A stream that is being read, as its bytes come. */
class Listening {
  text = '';
  readonly ended: Promise<void>;

  constructor(response: Promise<Response>) {
    this.ended = this.read(response);
    this.ended.catch(() => undefined);
  }

  private async read(response: Promise<Response>): Promise<void> {
    const { status, body } = await response;
    if (status !== 200 || !body) throw new Error(`The stream was answered with ${status}`);
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) this.text += chunk;
  }
}

function listen(talk: Talk, path: string, body: object): Listening {
  return new Listening(service.fetch('POST', path, { key: talk.key, body }));
}

/** The same message on each route that streams. */
const STREAMS = {
  native: (talk: Talk) => listen(talk, `${talk.path}/runs/stream`, message('Hi')),
  agUi: (talk: Talk) =>
    listen(talk, `/v1/agents/${talk.agentId}/ag-ui`, {
      ...{ threadId: talk.threadId, runId: 'run-1', tools: [], context: [], state: {}, forwardedProps: {} },
      messages: [{ id: 'message-1', role: 'user', content: 'Hi' }],
    }),
  completion: (talk: Talk) =>
    listen(talk, '/v1/chat/completions', {
      ...{ assistant_id: talk.agentId, thread_id: talk.threadId, stream: true },
      messages: [{ role: 'user', content: 'Hi' }],
    }),
};

/** Lets time pass until each of the streams says that its run waits. */
async function untilTheyWait(...streams: readonly Listening[]): Promise<void> {
  await until(
    async () => {
      await clock.advance(STEP_MS);
      return streams.every(({ text }) => text.includes(WAITING));
    },
    'the streams say that their runs wait',
    { everyMs: 25 },
  );
}

describe('a database that is unreachable when a run ends', () => {
  it('fails no run: streams say that it waits, callers wait, and each gets the end that is stored once it is back', async () => {
    const counted = await countingRuns(service);
    const reply = () => new HeldReply(['Half'], [' and half'], { input: 7, output: 5 });
    const waited = await heldRequest(service, (talk) => talk.run('Hi'), reply());
    const streamed = await Promise.all(Object.values(STREAMS).map((start) => heldRequest(service, start, reply())));
    const streams = streamed.map(({ running }) => running);

    const bringBack = await makeUnavailable();
    for (const { held } of [waited, ...streamed]) held.finish();
    await untilTheyWait(...streams);
    let answered = false;
    void waited.running.then(() => (answered = true));
    // Longer than the silence after which a process counts as dead.
    await clock.advance((OWNER_SILENT_SECONDS + 5) * 1_000);
    expect(answered).toBe(false);
    for (const { text } of streams) expect(text).not.toMatch(/RUN_ERROR|RUN_FINISHED|DONE/);
    await bringBack();

    expect(await passing(waited.running)).toMatchObject({
      status: 200,
      body: { run: { status: 'completed', usage: { inputTokens: 7 } }, message: { content: 'Half and half' } },
    });
    for (const { ended } of streams) await passing(ended);
    const [native, agUi, completion] = streams.map(({ text }) => text);
    for (const text of [native, agUi]) expect(text).toMatch(/"type":"RUN_FINISHED"[^\n]*\n\n$/);
    expect(completion).toMatch(/"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/);
    for (const { talk } of [waited, ...streamed]) {
      expect(await talk.storedRun()).toMatchObject({ status: 'completed', error: null });
      expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half and half']);
      expect(await talk.trace()).toMatchObject({ status: 'completed', usage: { outputTokens: 5 } });
    }
    expect(await counted()).toEqual([{ completed: 4 }]);
  });

  it('makes no tool call before the call is stored: the run waits, and then goes on', async () => {
    const talk = await Talk.start(service);
    const look = new NotingTool('look');
    during(talk.threadId, { tools: [look.offered] });
    service.models.next(calls('look', { at: 'it' }), says('Seen.'));
    const bringBack = await refuseRows(service.database, {
      change: 'insert',
      on: 'messages',
      when: "new.role = 'assistant' and new.status = 'incomplete'",
      error: 'disk_full',
    });
    const stream = STREAMS.native(talk);
    await untilTheyWait(stream);
    expect(look.inputs).toEqual([]);
    await bringBack();
    await passing(stream.ended);
    expect(look.inputs).toEqual([{ at: 'it' }]);
    expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Seen.']);
  });

  it('lets a run that waits be cancelled', async () => {
    const talk = await Talk.start(service);
    const look = new NotingTool('look');
    during(talk.threadId, { tools: [look.offered] });
    service.models.next(calls('look'));
    const bringBack = await refuseRows(service.database, {
      change: 'insert',
      on: 'messages',
      when: "new.role = 'assistant' and new.tool_calls::text like '%running%'",
      error: 'disk_full',
    });
    const stream = STREAMS.native(talk);
    await untilTheyWait(stream);
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    await passing(stream.ended);
    await bringBack();
    expect(look.inputs).toEqual([]);
    expect(await talk.storedRun()).toMatchObject({ status: 'cancelled' });
  });

  it('fails the run after two minutes, whose end is stored when the database is back', async () => {
    const [streamed, waited] = [await heldRequest(service, STREAMS.native), await heldRun(service)];
    const stream = streamed.running;

    const bringBack = await makeUnavailable();
    for (const { held } of [streamed, waited]) held.finish();
    await untilTheyWait(stream);
    await clock.advance(OUTAGE_MS - 20_000);
    expect(stream.text).not.toContain('RUN_ERROR');

    await passing(stream.ended, OUTAGE_MS / 20);
    expect(stream.text).toMatch(/"type":"RUN_ERROR"[^\n]*"code":"internal"[^\n]*\n\n$/);
    expect(await passing(waited.running, OUTAGE_MS / 20)).toMatchObject({
      status: 500,
      body: { error: 'Internal Server Error' },
    });
    await bringBack();
    for (const { talk } of [streamed, waited]) {
      await untilStored(talk);
      expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
      expect((await talk.messages())[1]).toMatchObject({ content: 'Half and half', status: 'incomplete' });
      expect(await talk.trace()).toMatchObject({ status: 'failed' });
      service.models.next(says('Back'));
      expect(await talk.run('Again')).toMatchObject({ status: 200 });
    }
  });

  it('keeps the thread busy until the end is stored', async () => {
    const { talk, held, running: stream } = await heldRequest(service, STREAMS.native);
    const restore = await refuseEnds();
    held.finish();
    await untilTheyWait(stream);
    expect(await talk.run('Too early')).toMatchObject({ status: 409, body: { code: 'thread_busy' } });
    await restore();
    await passing(stream.ended);
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half and half', 'user: Again', 'assistant: Back']);
  });
});

describe('a database that is unreachable when a run is prepared', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ['the tools of its integrations', () => jest.spyOn(service.app.get(IntegrationStateRepository), 'listForAgent')],
    ['its hooks', () => jest.spyOn(service.app.get(AgentHooksRepository), 'find')],
  ] as const)('fails and blocks nothing: the run waits, and then reads %s again', async (_what, reading) => {
    const talk = await Talk.start(service);
    const read = reading();
    read.mockRejectedValueOnce(new DatabaseUnavailable(undefined));
    service.models.next(says('Hello'));
    expect(await passing(talk.run('Hi'))).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
    expect(read.mock.calls.length).toBeGreaterThan(1);
    expect(service.models.requests).toHaveLength(1);
  });

  it('calls a hook before the prompt again, which has read nothing', async () => {
    const talk = await Talk.start(service);
    const asked: string[] = [];
    const beforePrompt = (): Promise<PromptVerdict> => {
      asked.push('asked');
      if (asked.length === 1) return Promise.reject(new DatabaseUnavailable(undefined));
      return Promise.resolve({ decision: 'continue', additionalContext: ['checked'] });
    };
    during(talk.threadId, { hooks: { beforePrompt } });
    service.models.next(says('Hello'));
    expect(await passing(talk.run('Hi'))).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
    expect(asked).toHaveLength(2);
  });
});

describe('an end that the database has stored, with the response lost', () => {
  /** The next end is stored, but its statement fails as if the database were unreachable. */
  function loseAnswer(): void {
    const runs = service.app.get(RunRepository);
    const finish = runs.finish.bind(runs);
    jest.spyOn(runs, 'finish').mockImplementationOnce(async (...end) => {
      await finish(...end);
      throw new DatabaseUnavailable(new Error('The answer was lost'));
    });
  }

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is what the waiting caller, the stream and the next run get', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('First'), says('Second'), says('Third'));
    await talk.run('one');
    const counted = await countingRuns(service);

    loseAnswer();
    const waited = await passing(talk.run('two'));
    expect(waited).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Second' } },
    });
    loseAnswer();
    const events = await passing(talk.streamed('three'));

    const stored = await talk.storedRun();
    expect(stored).toMatchObject({ status: 'completed', error: null });
    expect(await counted()).toEqual([{ completed: 2 }]);
    const { body } = await talk.storedAs(stored?.id ?? '');
    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', result: { run: body.run, message: body.message } });
    service.models.next(says('Fourth'));
    await talk.run('four');
    const { messages } = service.models.requests.at(-1)?.body as { messages: unknown[] };
    expect(JSON.stringify(messages)).toMatch(/one.*First.*two.*Second.*three.*Third.*four/);
    expect(messages).toHaveLength(7);
  });

  it('keeps its requests for approval', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay', { sum: 5 }));

    loseAnswer();
    const asked = await passing(talk.run('Pay'));

    expect(asked).toMatchObject({
      status: 200,
      body: { run: { status: 'requires_action' }, interrupts: [{ toolCallId: 'call_pay' }] },
    });
    service.models.next(says('Paid.'));
    expect(await talk.resume(...asked.body.interrupts.map(approve))).toMatchObject({ status: 200 });
    expect(pay.inputs).toEqual([{ sum: 5 }]);
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toMatchObject([{ id: 'call_pay' }]);
  });

  it('keeps the provider’s failure if it was one', async () => {
    const talk = await Talk.start(service);
    service.models.next(refuses(401));
    loseAnswer();
    expect(await passing(talk.run<{ code: string }>('Hi'))).toMatchObject({
      status: 502,
      body: { code: 'provider_auth' },
    });
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'provider_auth' } });
  });

  it('needs no further attempt once it is found, even after its caller got an error', async () => {
    const talk = await Talk.start(service);
    const counted = await countingRuns(service);
    service.models.next(says('Hello'));
    const reader = jest.spyOn(service.app.get(RunReader), 'find').mockRejectedValue(new DatabaseUnavailable(undefined));
    loseAnswer();
    expect(await passing(talk.run<object>('Hi'), OUTAGE_MS / 20)).toMatchObject({ status: 500 });
    reader.mockRestore();
    await until(async () => {
      await clock.advance(STORE_AGAIN_MS);
      return service.app.get(RunOwner).unsettled.size === 0;
    }, 'the end is found');
    expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
    await until(async () => Object.keys((await counted())[0] ?? {}).length > 0, 'the run is counted');
    expect(await counted()).toEqual([{ completed: 1 }]);
  });
});
