import { describe, expect, it } from '@jest/globals';
import { ThrottlerStorage } from '@nestjs/throttler';
import { newId } from '../../../src/platform/ids/index.js';
import { ShutdownState } from '../../../src/platform/lifecycle/index.js';
import { useUpBudget } from '../../support/budgets.js';
import { type Answer, message, useService, type TestService } from '../../support/harness.js';
import { heldRun } from '../../support/held-run.js';
import { ManualClock } from '../../support/manual-clock.js';
import { breaksOffAfter, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

/** Shorter than the idle limit of a provider. */
const TIMEOUT = { timeoutMinutes: 1 };
const TIMEOUT_MS = 60_000;

const clock = new ManualClock();
const service = useService({ clock, environment: { GEMINI_API_KEY: '' } });

interface Sent {
  readonly key?: string;
  readonly on?: TestService;
  readonly threadId?: string;
  /** Instead of a valid body. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Route {
  readonly name: string;
  /** Answers after the end of the run, and not with a stream. */
  readonly waits: boolean;
  /** An unknown thread id in the body is the client's id of a new thread. */
  readonly opensThreads?: true;
  readonly path: (talk: Talk, threadId: string) => string;
  readonly body: (talk: Talk, threadId: string, text?: string) => object;
  /** Refused by its schema, or because it does not match the thread. */
  readonly wrong: (talk: Talk, threadId: string) => object;
}

const completion = ({ agentId }: Talk, threadId: string, content: unknown = 'Hi'): object => ({
  assistant_id: agentId,
  thread_id: threadId,
  messages: [{ role: 'user', content }],
});

const input = (threadId: string, content = 'Hi', more: object = {}): object => ({
  threadId,
  runId: newId(),
  messages: [{ id: newId(), role: 'user', content }],
  ...more,
});

const ROUTES: readonly Route[] = [
  {
    name: 'runs',
    waits: true,
    path: (_talk, threadId) => `/v1/threads/${threadId}/runs`,
    body: (_talk, _threadId, text = 'Hi') => message(text),
    wrong: () => ({ message: 1 }),
  },
  {
    name: 'runs/stream',
    waits: false,
    path: (_talk, threadId) => `/v1/threads/${threadId}/runs/stream`,
    body: (_talk, _threadId, text = 'Hi') => message(text),
    wrong: () => ({ message: 1 }),
  },
  {
    name: 'chat completions',
    waits: true,
    path: () => '/v1/chat/completions',
    body: completion,
    wrong: (talk, threadId) => completion(talk, threadId, 1),
  },
  {
    name: 'streamed chat completions',
    waits: false,
    path: () => '/v1/chat/completions',
    body: (talk, threadId, text) => ({ ...completion(talk, threadId, text), stream: true }),
    wrong: (talk, threadId) => ({ ...completion(talk, threadId, 1), stream: true }),
  },
  {
    name: 'ag-ui',
    waits: false,
    opensThreads: true,
    path: (talk) => `/v1/agents/${talk.agentId}/ag-ui`,
    body: (_talk, threadId, text) => input(threadId, text),
    wrong: (_talk, threadId) =>
      input(threadId, 'Hi', { resume: [{ interruptId: newId(), status: 'resolved', payload: { approved: true } }] }),
  },
];

function send(
  route: Route,
  talk: Talk,
  { key, on = service, threadId = talk.threadId, body, headers = {} }: Sent = {},
): Promise<Answer> {
  return on.http('POST', route.path(talk, threadId), {
    key: key ?? talk.key,
    body: body ?? route.body(talk, threadId),
    headers,
  });
}

function expectNamed(answer: Answer, status: number, threadId: string | null): void {
  expect({ status: answer.status, thread: answer.headers.get('x-thread-id') }).toEqual({ status, thread: threadId });
}

function useUpTheBudget(talk: Talk): Promise<void> {
  return useUpBudget(service.app.get(ThrottlerStorage), `chat:${talk.organization.id}:${talk.agentId}`, 600);
}

describe.each(ROUTES)('the header x-thread-id of $name has the thread', (route) => {
  it('on success, on a repeat under the same Idempotency-Key, and on 422 for another request under it', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('Hello'));
    const headers = { 'idempotency-key': newId() };
    const body = route.body(talk, talk.threadId);
    expectNamed(await send(route, talk, { headers, body }), 200, talk.threadId);
    expectNamed(await send(route, talk, { headers, body }), 200, talk.threadId);
    const another = route.body(talk, talk.threadId, 'Something else');
    expectNamed(await send(route, talk, { headers, body: another }), 422, talk.threadId);
  });

  it('on a body that is refused, 400', async () => {
    const talk = await Talk.start(service);
    expectNamed(await send(route, talk, { body: route.wrong(talk, talk.threadId) }), 400, talk.threadId);
  });

  it('on 409 thread_busy', async () => {
    const { talk, held, running } = await heldRun(service);
    const busy = await send(route, talk);
    held.finish();
    await running;
    expectNamed(busy, 409, talk.threadId);
    expect(busy.body).toMatchObject({ code: 'thread_busy' });
  });

  it('on 422 of an agent that cannot run', async () => {
    const talk = await Talk.start(service, { provider: { type: 'gemini' } });
    expectNamed(await send(route, talk), 422, talk.threadId);
  });

  it('on 503 while the service stops', async () => {
    const talk = await Talk.start(service);
    const stopping = await service.replica();
    stopping.app.get(ShutdownState).begin();
    expectNamed(await send(route, talk, { on: stopping }), 503, talk.threadId);
    await stopping.close();
  });

  it('on failures of a provider: 502, 503 and 504 on waiting routes, otherwise a stream', async () => {
    const talk = await Talk.start(service, TIMEOUT);
    service.models.next(breaksOffAfter('Hel'));
    expectNamed(await send(route, talk), route.waits ? 502 : 200, talk.threadId);
    service.models.next(refuses(429, { 'retry-after': '3600' }));
    expectNamed(await send(route, talk), route.waits ? 503 : 200, talk.threadId);
    const held = new HeldReply(['Just']);
    service.models.next(held.script);
    const slow = send(route, talk);
    await held.asked;
    await clock.advance(TIMEOUT_MS);
    expectNamed(await slow, route.waits ? 504 : 200, talk.threadId);
    held.finish();
  });

  it('on 429', async () => {
    const talk = await Talk.start(service);
    await useUpTheBudget(talk);
    expectNamed(await send(route, talk), 429, talk.threadId);
  });

  it('not for a thread of another agent or organization, or an unknown one', async () => {
    const talk = await Talk.start(service);
    const elsewhere = await Talk.start(service);
    // A route that would open a thread with the id is refused before.
    if (route.opensThreads) await useUpTheBudget(talk);
    for (const threadId of [elsewhere.threadId, newId()]) {
      expectNamed(await send(route, talk, { threadId }), route.opensThreads ? 429 : 404, null);
    }
  });
});

describe('a client’s own id of a thread', () => {
  it('gets the thread’s id in the header, on refusals too', async () => {
    const talk = await Talk.start(service);
    const path = `/v1/agents/${talk.agentId}/ag-ui`;
    const ask = (): Promise<Answer> => service.http('POST', path, { key: talk.key, body: input('my own name') });
    service.models.next(says('Hello'));
    const first = await ask();
    const threadId = first.headers.get('x-thread-id');
    expect(threadId).toMatch(/^[0-9a-f-]{36}$/);
    const held = new HeldReply(['Just']);
    service.models.next(held.script);
    const second = ask();
    await held.asked;
    expectNamed(await ask(), 409, threadId);
    held.finish();
    expectNamed(await second, 200, threadId);
  });

  it('gets it on refusals by the guard, but only for callers that may chat with the agent', async () => {
    const talk = await Talk.start(service);
    const { organization, agentId } = talk;
    const ask = (key: string): Promise<Answer> =>
      service.http('POST', `/v1/agents/${agentId}/ag-ui`, { key, body: input('my own name') });
    service.models.next(says('Hello'));
    const threadId = (await ask(talk.key)).headers.get('x-thread-id');
    await useUpTheBudget(talk);
    expectNamed(await ask(talk.key), 429, threadId);
    const elsewhere = await Talk.start(service);
    const another = await service.agent(talk.key);
    const strangers = [await organization.keyWith(['chat'], [another]), await organization.keyWith(['manageAgents'])];
    for (const { key } of strangers) expectNamed(await ask(key), 429, null);
    expectNamed(await ask(elsewhere.key), 404, null);
  });
});
