import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Canary } from '../../support/canary.js';
import type { RecordedRequest } from '../../support/fake-upstream.js';
import type { Answer } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, type RunResult, type Talk, textOf, typesOf } from '../../support/talk.js';
import { until } from '../../support/until.js';
import { LEFT_OPEN } from '../../support/hook-server.js';
import { type HandlerFault, QUICK_FAULTS, SLOW_FAULTS } from './faults.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
const server = useHookServer();
let target: Canary;

beforeAll(async () => {
  target = await Canary.start();
});
afterAll(() => target.close());

type Event = 'SessionStart' | 'UserPromptSubmit' | 'PreToolUse' | 'PostToolUse' | 'Stop';

const EVENTS: readonly Event[] = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
const CLOSABLE: readonly Event[] = ['UserPromptSubmit', 'PreToolUse'];

interface Ran {
  readonly talk: Talk;
  readonly answer: Answer<RunResult>;
  /** Whether the tool was run. */
  readonly ran: boolean;
  readonly tookMs: number;
  /** The requests to the model. */
  readonly requests: readonly RecordedRequest[];
}

let paths = 0;

/** A handler with the fault, at a separate path. */
function faulty({ answer }: Pick<HandlerFault, 'answer'>, more: object = {}): { type: string; url: string } {
  paths += 1;
  return { type: 'http', url: server.url(`/fault/${paths}`, answer), ...more };
}

/** A run with one tool call, of an agent whose event has the handlers. */
async function runWith(event: Event, ...handlers: object[]): Promise<Ran> {
  const talk = await talkWith(service, { [event]: [group(handlers)] });
  let ran = false;
  during(talk.threadId, {
    tools: [
      tool('echo', () => {
        ran = true;
        return output('echoed');
      }),
    ],
  });
  service.models.always(echoOnce);
  // Distinguishes the requests of this run from those of concurrent runs.
  const prompt = `Go ${talk.threadId}`;
  const began = performance.now();
  const answer = await talk.run(prompt);
  const tookMs = performance.now() - began;
  const requests = service.models.requests.filter(({ body }) => JSON.stringify(body).includes(prompt));
  return { talk, answer, ran, tookMs, requests };
}

/** The model calls the tool and ends after its result. */
const echoOnce: ModelScript = (exchange, wire) =>
  (anthropicWire.toolResults(exchange.request.body).length > 0 ? says('Done') : calls('echo'))(exchange, wire);

/** Runs whose handlers time out. They run in parallel, before the first test checks one. */
function begunTogether(begin: readonly (() => Promise<Ran>)[]): (index: number) => Ran {
  let runs: readonly Ran[] = [];
  beforeAll(async () => {
    runs = await Promise.all(begin.map((run) => run()));
  });
  return (index) => runs[index] ?? fail();
}

async function hookSteps({ talk }: Ran): Promise<readonly object[]> {
  return (await talk.trace()).steps.filter(({ type }) => type === 'hook');
}

function failedStep(event: Event, { error }: Pick<HandlerFault, 'error'>): object {
  const message = typeof error === 'string' ? error : expect.stringMatching(error);
  return { type: 'hook', name: event, output: { outcome: 'failed' }, error: message };
}

/** The run is as it would be without the handlers, and the trace shows the fault of each. */
async function expectOpen(run: Ran, event: Event, faults: readonly HandlerFault[]): Promise<void> {
  expect(run.answer).toMatchObject({
    status: 200,
    body: {
      run: { status: 'completed', error: null },
      message: { content: 'Done', toolCalls: [{ status: 'completed', output: 'echoed' }] },
    },
  });
  expect(run.answer.body.message).not.toHaveProperty('blocked', true);
  expect(run.ran).toBe(true);
  expect(run.requests).toHaveLength(2);
  const steps = await hookSteps(run);
  expect(steps).toMatchObject(faults.map((fault) => failedStep(event, fault)));
  expect(steps).toMatchObject(
    faults.map(() => ({ output: { verdict: null }, error: expect.stringMatching(/^[A-Za-z].*\.$/) })),
  );
}

async function expectClosed(run: Ran, event: Event, fault: HandlerFault): Promise<void> {
  const { answer, ran, requests } = run;
  expect(ran).toBe(false);
  expect(answer).toMatchObject({ status: 200, body: { run: { status: 'completed', error: null } } });
  expect(await hookSteps(run)).toMatchObject([
    { ...failedStep(event, fault), output: { outcome: 'failed', verdict: { decision: 'block' } } },
  ]);
  if (event === 'UserPromptSubmit') {
    expect(answer.body.message).toMatchObject({ blocked: true, content: expect.stringMatching(/^\S.*\.$/) });
    expect(requests).toEqual([]);
    return;
  }
  expect(answer.body.message).toMatchObject({ content: 'Done', toolCalls: [{ name: 'echo', status: 'denied' }] });
  expect(requests).toHaveLength(2);
  expect(anthropicWire.toolResults(requests[1]?.body ?? {})).toMatchObject([
    { output: expect.stringMatching(/^This call was not made: /), isError: true },
  ]);
}

/** A timeout of one second, different from the default and the maximum. */
function expectInTime({ tookMs }: Ran): void {
  expect(tookMs).toBeGreaterThan(990);
  expect(tookMs).toBeLessThan(9_000);
}

const REDIRECTS: readonly HandlerFault[] = [301, 302, 303, 307, 308].map((status) => ({
  what: `redirects with ${status}`,
  answer: (_hook, response) => response.writeHead(status, { location: `${target.url}/next` }).end(),
  error: `The endpoint responded with the status ${status}.`,
}));

const FAULTS: readonly HandlerFault[] = [...QUICK_FAULTS, ...REDIRECTS];
/** As many faults as an event may have handlers. */
const TOGETHER = 8;
const BATCHES = Array.from({ length: Math.ceil(FAULTS.length / TOGETHER) }, (_none, index) => {
  const faults = FAULTS.slice(index * TOGETHER, (index + 1) * TOGETHER);
  return { faults, first: faults[0]?.what, last: faults.at(-1)?.what };
});

const REFUSED = { type: 'http', url: 'http://127.0.0.1:9/' };
const REFUSES: HandlerFault = {
  what: 'refuses the connection',
  answer: () => LEFT_OPEN,
  error: 'The host of the URL cannot be reached.',
};

const slowOpen = begunTogether(
  EVENTS.map((event) => () => runWith(event, ...SLOW_FAULTS.map((fault) => faulty(fault, { timeout: 1 })))),
);
const slowClosed = begunTogether(
  CLOSABLE.flatMap((event) =>
    SLOW_FAULTS.map((fault) => () => runWith(event, faulty(fault, { timeout: 1, failClosed: true }))),
  ),
);

describe.each(EVENTS)('endpoints of %s without failClosed', (event) => {
  it.each(BATCHES)(
    'that fail, from one that $first to one that $last, are ignored, and the trace shows the fault',
    async ({ faults }) => {
      await expectOpen(await runWith(event, ...faults.map((fault) => faulty(fault))), event, faults);
      expect(target.connections).toBe(0);
    },
  );

  it('that refuse the connection are ignored', async () => {
    await expectOpen(await runWith(event, REFUSED), event, [REFUSES]);
  });

  it('that do not respond in time are ignored after their timeout', async () => {
    const run = slowOpen(EVENTS.indexOf(event));
    await expectOpen(run, event, SLOW_FAULTS);
    expectInTime(run);
  });

  it('with any kind of empty response have no effect', async () => {
    const answers: readonly HandlerFault['answer'][] = [
      (_hook, response) => response.writeHead(204).end(),
      (_hook, response) => response.writeHead(200).end(),
      (_hook, response) => response.writeHead(200).end(' \r\n'),
      () => ({}),
      () => ({ decision: null, reason: null, additionalContext: null, hookSpecificOutput: null }),
      (_hook, response) => response.writeHead(200).end('\ufeff{}'),
    ];
    const closed = CLOSABLE.includes(event) ? { failClosed: true } : {};
    const run = await runWith(event, ...answers.map((answer) => faulty({ answer }, closed)));
    expect(run.answer).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Done' } },
    });
    expect(run.ran).toBe(true);
    expect(await hookSteps(run)).toMatchObject(
      answers.map(() => ({ name: event, output: { outcome: 'ok', verdict: {} }, error: null })),
    );
  });
});

describe.each(CLOSABLE)('an endpoint of %s with failClosed', (event) => {
  it.each(FAULTS)('that $what blocks', async (fault) => {
    await expectClosed(await runWith(event, faulty(fault, { failClosed: true })), event, fault);
    expect(target.connections).toBe(0);
  });

  it('that refuses the connection blocks', async () => {
    await expectClosed(await runWith(event, { ...REFUSED, failClosed: true }), event, REFUSES);
  });

  it.each(SLOW_FAULTS)('that $what blocks after its timeout', async (fault) => {
    const run = slowClosed(CLOSABLE.indexOf(event) * SLOW_FAULTS.length + SLOW_FAULTS.indexOf(fault));
    await expectClosed(run, event, fault);
    expectInTime(run);
  });
});

describe('while an endpoint does not respond', () => {
  it('the outputs of the other handlers count', async () => {
    const [hanging] = SLOW_FAULTS;
    const heard = { type: 'http', url: server.url('/heard', () => ({ additionalContext: 'It is Monday.' })) };
    const talk = await talkWith(service, {
      UserPromptSubmit: [group([{ ...faulty(hanging ?? fail(), { timeout: 1 }) }, heard])],
    });
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ body: { message: { content: 'Hello' } } });
    expect(service.models.requests[0]?.body['messages']).toEqual([{ role: 'user', content: 'Hi\n\nIt is Monday.' }]);
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'hook', input: { handler: 0 }, output: { outcome: 'failed' } },
      { type: 'hook', input: { handler: 1 }, output: { outcome: 'ok' } },
      { type: 'model' },
    ]);
  });

  it('a stream delivers earlier events, other runs begin and end, and the stream ends', async () => {
    let release: (answer: object) => void = () => undefined;
    const { url } = faulty({ answer: () => new Promise((resolve) => (release = resolve)) });
    const talk = await talkWith(service, { PreToolUse: [group([{ type: 'http', url, timeout: 10 }])] });
    during(talk.threadId, { tools: [tool('echo', () => output('echoed'))] });
    service.models.next(calls('echo'));
    const events: Awaited<ReturnType<Talk['streamed']>> = [];
    const reading = (async () => {
      for await (const event of talk.stream('Go')) events.push(event);
    })();
    await until(() => server.of(new URL(url).pathname).length === 1, 'the handler to be asked');
    await until(() => typesOf(events).includes('TOOL_CALL_END'), 'the end of the call');

    const other = await talkWith(service, {});
    service.models.next(says('Hello'));
    expect(textOf(await other.streamed('Hi'))).toBe('Hello');
    expect(typesOf(events)).not.toContain('RUN_FINISHED');

    service.models.next(says('Done'));
    release({});
    await reading;
    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(textOf(events)).toBe('Done');
  });

  it('a cancelled run ends at once, and its trace has no step of the handler', async () => {
    const { url } = faulty(SLOW_FAULTS[0] ?? fail());
    const talk = await talkWith(service, {
      UserPromptSubmit: [group([{ type: 'http', url, timeout: 10, failClosed: true }])],
    });
    const running = talk.streamed('Go');
    await until(() => server.of(new URL(url).pathname).length === 1, 'the handler to be asked');
    const run = await talk.storedRun();
    const began = performance.now();
    expect(
      (await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key })).status,
    ).toBeLessThan(300);
    await running;
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(await talk.storedRun()).toMatchObject({ status: 'cancelled' });
    expect(service.models.requests).toEqual([]);
  });
});

function fail(): never {
  throw new Error('There is no such fault');
}
