import { describe, expect, it } from '@jest/globals';
import { type ChatAnswer, json, stream } from '../../../test/support/scripted-chat-service.js';
import {
  EVENTS,
  finished,
  message,
  MESSAGES,
  partsOf,
  RESUMED,
  run,
  RUNS,
  said,
  service,
  STARTED,
  text,
  until,
  useChatService,
  WHOLE,
  world,
} from './chat-client.support.js';

useChatService();

const call = (toolCallId: string, toolCallName: string) => ({ type: 'TOOL_CALL_START', toolCallId, toolCallName });
const result = (toolCallId: string, content: string) => ({ type: 'TOOL_CALL_RESULT', toolCallId, content });
const card = { id: 'x', component: 'card', props: {}, fallback: 'A card' };
const stored = (more: object) => message('m-2', 'assistant', 'One.\n\nTwo.', 'r-1', more);
const look = { id: 'c-1', name: 'look_up', input: {} };

describe('the parts of a reply', () => {
  const streamed = [
    STARTED,
    text('One.'),
    call('c-1', 'look_up'),
    result('c-1', 'found'),
    call('c-2', 'present_card'),
    { type: 'CUSTOM', name: 'component', value: card },
    result('c-2', 'shown'),
    text('\n\nTwo.'),
  ];
  const success = { type: 'success' };

  it('keep the order in which they came, with what the service has stored of them', async () => {
    const { client } = world();
    const toolCalls = [
      { ...look, output: 'broke', status: 'failed' },
      { id: 'c-2', name: 'present_card', input: {}, output: 'shown', status: 'completed' },
    ];
    service.next(RUNS, stream(run(...streamed, finished(success, stored({ toolCalls, components: [card] })))));
    await client.start();
    await client.send('Hi');
    expect(partsOf(client, 1)).toEqual(['One.', 'look_up: failed broke', '[card]', 'Two.']);
    expect(client.state.messages[1]).toMatchObject({ id: 'm-2', text: 'One.\n\nTwo.', status: 'completed' });
  });

  it('stand as the service tells when it does, or when it has stored another text', async () => {
    const toolCalls = [{ ...look, output: 'found', status: 'completed' }];
    const offsets = world();
    const placed = stored({
      toolCalls,
      components: [card],
      partOffsets: [
        { id: 'x', offset: 4 },
        { id: 'c-1', offset: 4 },
      ],
    });
    service.next(RUNS, stream(run(...streamed, finished(success, placed))));
    await offsets.client.start();
    await offsets.client.send('Hi');
    expect(partsOf(offsets.client, 1)).toEqual(['One.', '[card]', 'look_up: completed found', 'Two.']);
    const other = world();
    service.next(RUNS, stream(run(...streamed, finished(success, { ...stored({ toolCalls }), content: 'Blocked.' }))));
    await other.client.start();
    await other.client.send('Hi');
    expect(partsOf(other.client, 1)).toEqual(['look_up: completed found', 'Blocked.']);
  });
});

describe('calls that wait for approval', () => {
  const interrupt = {
    id: 'i-1',
    reason: 'tool_approval',
    toolCallId: 'c-1',
    metadata: { tool: 'pay', input: { a: 3 } },
  };
  const asks = (message: object | null = null) => finished({ type: 'interrupt', interrupts: [interrupt] }, message);
  const waits = { id: 'c-1', name: 'pay', input: { a: 3 }, status: 'awaiting_approval' };
  const paid = { ...waits, output: 'paid', status: 'completed' };
  const yes = new Map([['i-1', { approved: true }]]);
  const resumed = (...events: object[]) => run({ ...STARTED, runId: 'r-2' }, ...events);
  const answered = (toolCalls?: object[]) =>
    finished({ type: 'success' }, message('m-3', 'assistant', 'Done.', 'r-2', toolCalls ? { toolCalls } : {}));

  async function asked(...answers: ChatAnswer[]) {
    const { client, events } = world();
    const question = message('m-2', 'assistant', 'May I?', 'r-1', { toolCalls: [waits] });
    service.next(RUNS, stream(run(STARTED, text('May I?'), call('c-1', 'pay'), asks(question))), ...answers);
    await client.start();
    await client.send('Hi');
    expect(partsOf(client, 1)).toEqual(['May I?', 'pay: awaiting_approval']);
    return { client, events };
  }

  it('appear once, where they were asked, with what came of them', async () => {
    const { client } = await asked(stream(resumed(result('c-1', 'paid'), text('Done.'), answered([paid]))));
    const seen = new Set<string>();
    client.subscribe(() => seen.add(partsOf(client, 1)[1] ?? ''));
    const answering = client.answer(yes);
    expect(partsOf(client, 1)).toEqual(['May I?', 'pay: running']);
    await answering;
    expect([partsOf(client, 1), partsOf(client, 2)]).toEqual([['May I?', 'pay: completed paid'], ['Done.']]);
  });

  it('are declined by the answer, and by a message', async () => {
    const answer = await asked(stream(resumed(result('c-1', 'Refused.'), text('Done.'), answered())));
    await answer.client.answer(new Map([['i-1', { approved: false }]]));
    expect(partsOf(answer.client, 1)).toEqual(['May I?', 'pay: denied Refused.']);
    const other = await asked(stream(resumed(text('Done.'), answered())));
    await other.client.send('Never mind');
    expect(partsOf(other.client, 1)).toEqual(['May I?', 'pay: denied']);
  });

  it('of an agent that hides its calls are shown while they wait, and then as approved', async () => {
    const { client } = world();
    service.next(RUNS, stream(run(STARTED, asks())), stream(resumed(text('Done.'), answered())));
    await client.start();
    await client.send('Hi');
    expect(partsOf(client, 1)).toEqual(['pay: awaiting_approval']);
    await client.answer(yes);
    expect([partsOf(client, 1), partsOf(client, 2)]).toEqual([['pay: approved'], ['Done.']]);
  });

  it('can be answered again when the message that would have declined them was not sent', async () => {
    const { client } = await asked(json(422, { error: 'unprocessable_entity' }));
    await client.send('Never mind');
    expect(client.state).toMatchObject({ status: 'awaiting_approval', approvals: [{ interruptId: 'i-1' }] });
    expect([partsOf(client, 1)[1], said(client)[2]]).toEqual([
      'pay: awaiting_approval',
      ['user', 'Never mind', 'unsent'],
    ]);
  });

  it('that can no longer be answered are shown as the service has stored them', async () => {
    const { client, events } = await asked(json(400, { code: 'FST_ERR_VALIDATION' }));
    const question = message('m-2', 'assistant', 'May I?', 'r-1', { toolCalls: [{ ...waits, status: 'denied' }] });
    service.next(MESSAGES, json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1'), question], truncated: false }));
    await client.answer(yes);
    expect(client.state).toMatchObject({ status: 'ready', approvals: [], failure: { code: 'approval_closed' } });
    expect(partsOf(client, 1)).toEqual(['pay: denied', 'May I?']);
    expect(events.at(-1)).toMatchObject({ type: 'chatError', failure: { code: 'approval_closed' } });
  });

  it('are asked again in a new tab, and only shown when their run has expired', async () => {
    const list = (...more: object[]) =>
      json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1'), ...more], truncated: false });
    const question = message('m-2', 'assistant', 'May I?', 'r-1', { toolCalls: [waits] });
    const again = world({ options: RESUMED });
    service.next(MESSAGES, list(question));
    service.next(RUNS, stream(run(STARTED, text('May I?'), call('c-1', 'pay'), asks(question))));
    await again.client.start();
    expect(again.client.state).toMatchObject({ status: 'awaiting_approval', approvals: [{ interruptId: 'i-1' }] });
    expect(again.events).toEqual([]);
    const late = world({ options: RESUMED });
    service.next(MESSAGES, list(question), list(question));
    service.next(RUNS, json(410, { error: 'gone' }));
    await late.client.start();
    expect(late.client.state).toMatchObject({ status: 'ready', approvals: [] });
    expect(partsOf(late.client, 1)).toEqual(['pay: awaiting_approval', 'May I?']);
  });

  it('and were made are shown once in a restored conversation', async () => {
    const { client } = world({
      options: RESUMED,
    });
    const question = message('m-2', 'assistant', 'May I?', 'r-1', { toolCalls: [{ ...waits, status: 'approved' }] });
    const reply = message('m-3', 'assistant', 'Done.', 'r-2', { toolCalls: [paid] });
    service.next(
      MESSAGES,
      json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1'), question, reply], truncated: false }),
    );
    await client.start();
    expect([partsOf(client, 1), partsOf(client, 2)]).toEqual([['pay: completed paid', 'May I?'], ['Done.']]);
  });
});

describe('a reply that the visitor stops', () => {
  const cancelled = finished(
    { type: 'cancelled' },
    message('m-2', 'assistant', 'It beg', 'r-1', { status: 'incomplete' }),
  );
  const cancels = () => service.sent(RUNS).filter((body) => 'cancel' in body);

  /** Sends the events and keeps the stream open until the run is cancelled. */
  function held(...events: object[]): { answer: ChatAnswer; end: (text: string) => void } {
    let end: (text: string) => void = () => undefined;
    const answer: ChatAnswer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      response.write(run(...events));
      end = (rest) => response.end(rest);
    };
    return { answer, end: (rest) => end(rest) };
  }
  const lastOf = (number: number, event: object) => `id: ${number}\ndata: ${JSON.stringify(event)}\n\n`;

  it('ends once, and keeps its text so far', async () => {
    const { client, events } = world();
    const reply = held(STARTED, text('It beg'));
    service.next(RUNS, reply.answer, stream(lastOf(3, cancelled)));
    await client.start();
    const sending = client.send('Hi');
    await until(() => client.state.messages[1]?.text === 'It beg');
    await Promise.all([client.stop(), client.stop()]);
    expect(client.state).toMatchObject({ status: 'responding', isStopping: true });
    expect(cancels()).toEqual([{ cancel: { runId: 'r-1', startingAfter: 2 } }]);
    reply.end(lastOf(3, cancelled));
    await sending;
    expect(said(client)[1]).toEqual(['assistant', 'It beg', 'stopped']);
    expect(client.state).toMatchObject({ status: 'ready', isStopping: false, failure: null });
    expect(events.map(({ type }) => type)).toEqual(['messageSent', 'replyFinished']);
  });

  it('before its run is known is cancelled as soon as it is', async () => {
    const { client } = world();
    const reply = held(STARTED);
    let accept: () => void = () => undefined;
    const accepted = new Promise<void>((resolve) => (accept = resolve));
    service.next(RUNS, async (response, request) => {
      await accepted;
      await reply.answer(response, request);
    });
    service.next(RUNS, (response) => {
      response.writeHead(200).end();
      reply.end(lastOf(2, finished({ type: 'cancelled' })));
    });
    await client.start();
    const sending = client.send('Hi');
    await until(() => service.sent(RUNS).length === 1);
    await client.stop();
    expect([client.state.isStopping, cancels()]).toEqual([true, []]);
    accept();
    await sending;
    expect(cancels()).toHaveLength(1);
    expect(said(client)[1]).toEqual(['assistant', '', 'stopped']);
  });

  it('while the client reconnects is cancelled', async () => {
    const endless = (signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      );
    const { client } = world({
      seams: { sleep: (ms, signal) => (ms < 30_000 ? client.stop() : endless(signal)) },
    });
    service.next(
      RUNS,
      stream(run(STARTED, text('It beg')), { breaks: true }),
      json(200, {}),
      stream(lastOf(3, cancelled)),
    );
    await client.start();
    await client.send('Hi');
    expect(service.sent(RUNS).map((body) => Object.keys(body)[0])).toEqual(['message', 'cancel', 'rejoin']);
    expect(said(client)[1]).toEqual(['assistant', 'It beg', 'stopped']);
  });

  it('goes on if the service does not stop it', async () => {
    const { client, events } = world();
    const reply = held(STARTED, text('It beg'));
    service.next(RUNS, reply.answer, json(404, { error: 'not_found' }));
    await client.start();
    const sending = client.send('Hi');
    await until(() => client.state.messages[1]?.text === 'It beg');
    await client.stop();
    expect(client.state).toMatchObject({ status: 'responding', isStopping: false });
    expect(events.at(-1)).toMatchObject({ type: 'chatError', failure: { code: 'not_found', terminal: false } });
    reply.end(lastOf(3, text('ins.')) + lastOf(4, finished({ type: 'success' })));
    await sending;
    expect(said(client)[1]).toEqual(['assistant', 'It begins.', 'completed']);
  });
});

describe('a reply that breaks off', () => {
  const failed = { type: 'RUN_ERROR', message: 'Too slow.', code: 'run_timeout' };
  const file = { name: 'a.txt', url: 'https://files.example/a', contentType: 'text/plain' };

  it('before its first word is shown with its failure, and the message before it can be sent again', async () => {
    const { client, events } = world();
    service.next(RUNS, stream(run(STARTED, failed)), stream(WHOLE.replaceAll('r-1', 'r-2')));
    await client.start();
    await client.send('Hi', [file]);
    const reply = client.state.messages[1]!;
    expect(reply).toMatchObject({ status: 'failed', parts: [], failure: { code: 'run_timeout', terminal: false } });
    expect(events.map(({ type }) => type)).toEqual(['messageSent', 'chatError', 'replyFinished']);
    await client.retry(reply.key);
    expect(service.sent(RUNS)[1]).toMatchObject({ message: { content: 'Hi', attachments: [file] } });
    // The failed try does not stay.
    expect(said(client)).toEqual([
      ['user', 'Hi', 'completed'],
      ['assistant', 'Grüße, 🚲!', 'completed'],
    ]);
    // Only the last reply can be tried again.
    await client.retry(reply.key);
    expect(service.sent(RUNS)).toHaveLength(2);
  });

  it('because its stream cannot be joined again is incomplete, with its failure', async () => {
    const { client } = world();
    service.next(
      RUNS,
      stream(EVENTS.slice(0, 3).join(''), { breaks: true }),
      json(400, { code: 'FST_ERR_VALIDATION' }),
    );
    await client.start();
    await client.send('Hi');
    expect(client.state.messages[1]).toMatchObject({ status: 'incomplete', failure: { code: 'FST_ERR_VALIDATION' } });
  });

  it('is shown as failed when the service has no reply to a restored message', async () => {
    const { client } = world({
      options: RESUMED,
    });
    const list = json(200, { messages: [message('m-1', 'user', 'Hi', 'r-1')], truncated: false });
    service.next(MESSAGES, list, list);
    service.next(RUNS, json(410, { error: 'gone' }), stream(WHOLE.replaceAll('r-1', 'r-2')));
    await client.start();
    expect(said(client)[1]).toEqual(['assistant', '', 'failed']);
    await client.retry(client.state.messages[1]!.key);
    expect(said(client)).toEqual([
      ['user', 'Hi', 'completed'],
      ['assistant', 'Grüße, 🚲!', 'completed'],
    ]);
  });
});
