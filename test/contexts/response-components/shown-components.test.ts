import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import { RunLog } from '../../../src/platform/run-log/index.js';
import { message, useService, type StreamedEvent } from '../../support/harness.js';
import { OfficialClient } from '../../support/official-client.js';
import { anthropicWire, openaiWire } from '../../support/provider-wire.js';
import { answers, calls, HeldReply, says } from '../../support/scripted-models.js';
import { endOf, type Talk, textOf, typesOf } from '../../support/talk.js';
import { readByModel, shownIn, talkWithComponents, WIDGET } from './support.js';

const service = useService();

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const QUESTION = { question: 'Send it?', confirmLabel: 'Send', cancelLabel: 'Keep' };
const CONFIRM = { id: UUID, component: 'confirm', props: QUESTION, fallback: 'Send it?\n\n- Send\n- Keep' };
const CARD = { title: 'Climber', fields: [{ label: 'Price', value: '1,200 €' }] };
const IMAGE = { url: 'https://shop.example/climber.png', alt: 'A red bicycle' };
const LIST = {
  title: 'Bicycles',
  items: [{ title: 'Climber', links: [{ label: 'Buy', url: 'https://shop.example/buy' }] }, { title: 'City' }],
};

const asks = calls('present_confirm', QUESTION);

describe.each([anthropicWire, openaiWire])('a component on $provider', (wire) => {
  it('is sent as an event before the end of the run, and is the same in the response, the message and later reads', async () => {
    const talk = await talkWithComponents(service, {}, { wire });
    service.models.next(
      answers({ text: 'It is ready.', calls: [{ id: 'c1', name: 'present_confirm', input: QUESTION }] }),
      says(),
    );

    const events = await talk.streamed('Mail her', WIDGET);

    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(typesOf(events)).toEqual([
      ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT', 'CUSTOM', 'RUN_FINISHED'],
    ]);
    expect(shownIn(events)).toEqual([CONFIRM]);
    const [, stored] = await talk.messages();
    expect(stored).toMatchObject({ content: 'It is ready.', components: shownIn(events), status: 'completed' });
    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { message: stored } });
    expect((await talk.storedAs(stored?.runId ?? '')).body.message).toEqual(stored);

    service.models.next(asks, says());
    const { body } = await talk.run('Again', WIDGET);
    expect(body.message?.components).toEqual([CONFIRM]);
  });

  it('is answered by the next message, which the model reads after the result of the call', async () => {
    const talk = await talkWithComponents(service, {}, { wire });
    service.models.next(asks, says(), says('Sent.'));
    await talk.run('Mail her', WIDGET);
    expect(readByModel(service, wire)).toEqual([
      { id: 'call_present_confirm', output: expect.stringMatching(/next message.*End your reply now/), isError: false },
    ]);

    const { body } = await talk.run('Send', WIDGET);

    expect(body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Sent.', components: [] } });
    expect(readByModel(service, wire)).toMatchObject([{ id: 'call_present_confirm', isError: false }]);
    const { messages, input } = service.models.requests.at(-1)?.body as { messages?: unknown[]; input?: unknown[] };
    const sent = (messages ?? input ?? []).map((entry) => JSON.stringify(entry));
    expect(sent).toHaveLength(4);
    expect(sent[1]).toContain('present_confirm');
    expect(sent[3]).toContain('Send');
    for (const entry of sent) expect(entry).not.toMatch(/"content":(""|\[\])|"text":""/);
  });

  it('is received by the official AG-UI client', async () => {
    const talk = await talkWithComponents(service, {}, { wire });
    const input = { card: CARD, list: LIST };
    service.models.next(
      answers({
        calls: Object.entries(input).map(([name, props]) => ({ id: name, name: `present_${name}`, input: props })),
      }),
      says('These two.'),
    );
    const received: unknown[] = [];

    const client = new OfficialClient(service.baseUrl, talk, 'Bicycles?', '', WIDGET);
    const { result } = await client.runAgent(
      {},
      { onCustomEvent: ({ event: { name, value } }) => void received.push([name, value as unknown]) },
    );

    const [, stored] = await talk.messages();
    expect(result).toMatchObject({ run: { status: 'completed' }, message: stored });
    expect(received).toEqual(stored?.components.map((component) => ['component', component]));
    expect(stored?.components.map(({ component }) => component)).toEqual(['card', 'list']);
  });
});

describe('a component', () => {
  it("is shown even if the agent's tool activity is hidden", async () => {
    const talk = await talkWithComponents(service, {}, { agent: { toolProgress: { enabled: false } } });
    service.models.next(asks, says('Well?'));
    const events = await talk.streamed('Mail her', WIDGET);
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'CUSTOM',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    const [, stored] = await talk.messages();
    expect(stored).toMatchObject({ components: [CONFIRM] });
    expect(stored).not.toHaveProperty('toolCalls');
  });

  it('is sent to a reader that joins during the run, and to one that reads after the log has expired', async () => {
    const talk = await talkWithComponents(service);
    const held = new HeldReply(['One', ' moment'], ['.']);
    service.models.next(asks, held.script);
    const named = { 'idempotency-key': 'once' };
    const first = talk.streamedBody(message('Mail her', WIDGET), named);
    await held.asked;
    const runId = (await talk.storedRun())?.id ?? '';
    const joined = talk.streamedBody({ rejoin: { runId, startingAfter: 0 } });
    held.finish();

    const events = await first;
    expect(shownIn(events)).toEqual([CONFIRM]);
    expect(await joined).toEqual(events);

    const read = jest.spyOn(service.app.get(RunLog), 'read').mockResolvedValueOnce(null);
    const replayed = await talk.streamedBody(message('Mail her', WIDGET), named);
    expect(read).toHaveBeenCalledTimes(1);
    read.mockRestore();
    expect(shownIn(replayed)).toEqual(shownIn(events));
    expect(endOf(replayed)).toEqual(endOf(events));
  });

  it('is a tool call in the trace', async () => {
    const talk = await talkWithComponents(service);
    service.models.next(asks, says());
    await talk.run('Mail her', WIDGET);
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ type: 'tool', name: 'present_confirm', input: QUESTION, error: null }),
    );
  });

  it('needs no approval', async () => {
    const talk = await talkWithComponents(service, {}, { agent: { tools: { requireApprovalBeforeToolCalls: true } } });
    service.models.next(asks, says());
    expect((await talk.run('Mail her', WIDGET)).body).toMatchObject({
      run: { status: 'completed' },
      message: { components: [CONFIRM] },
    });
  });
});

describe('a widget that is too old for a component', () => {
  const SELECT = { question: 'Which?', options: [{ label: 'Climber' }, { label: 'City' }] };
  const WITH_IMAGE = { ...CARD, image: IMAGE };
  const WITH_LINKS = { ...CARD, links: [{ label: 'Buy', url: 'https://shop.example/buy' }] };

  /** The run's events, and whether its text contains the prose too. */
  async function shown(
    name: string,
    props: object,
    version: string,
  ): Promise<{ asText: boolean; events: StreamedEvent[]; talk: Talk }> {
    const talk = await talkWithComponents(service);
    service.models.next(
      answers({ text: 'Look:', calls: [{ id: 'c1', name: `present_${name}`, input: props }] }),
      says('Well?'),
    );
    const events = await talk.streamed('Show me', { widget: { version } });
    const [value] = shownIn(events) as { component: string; fallback: string }[];
    expect(value).toMatchObject({ component: name });
    const [, stored] = await talk.messages();
    expect(stored).toMatchObject({ components: [value], content: textOf(events) });
    const { fallback = '' } = value ?? {};
    const asText = textOf(events).includes(fallback);
    expect(textOf(events)).toBe(asText ? `Look:\n\n${fallback}\n\nWell?` : 'Look:\n\nWell?');
    return { asText, events, talk };
  }

  it.each([
    ['confirm', QUESTION, ['0.2.9', '0.3.0-rc.1', 'garbage'], ['0.3.0', '0.3.0+build']],
    ['select', SELECT, ['0.2.9', '0.0.1'], ['0.3.0', '0.10.0']],
    ['card', CARD, ['0.3.0', '0.4.0-beta.1', '0.3.99'], ['0.4.0', '0.5.0-beta.1']],
    ['card', WITH_IMAGE, ['0.4.0', '0.4.9', '0.5.0-beta.1'], ['0.5.0']],
    ['card', WITH_LINKS, ['0.4.0'], ['0.5.0']],
    ['list', LIST, ['0.4.0', '0.5.0-beta.1', '0.5', 'v0.5.0'], ['0.5.0', '1.0.0-alpha']],
  ])('gets both the event and the prose: %s %j', async (name, props, older, recent) => {
    for (const version of older) expect([version, (await shown(name, props, version)).asText]).toEqual([version, true]);
    for (const version of recent)
      expect([version, (await shown(name, props, version)).asText]).toEqual([version, false]);
  });

  it('gets the prose after the event, as a part of the same message', async () => {
    const { events, talk } = await shown('card', WITH_IMAGE, '0.4.0');
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    const text = ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'];
    expect(typesOf(events).filter((type) => !type.startsWith('TOOL_CALL'))).toEqual([
      'RUN_STARTED',
      ...text,
      'CUSTOM',
      ...text,
      ...text,
      'RUN_FINISHED',
    ]);
    const [, stored] = await talk.messages();
    const begun = events
      .filter(({ event }) => event.type === 'TEXT_MESSAGE_START')
      .map(({ event }) => event['messageId']);
    expect(new Set(begun)).toEqual(new Set([stored?.id]));
    expect(textOf(events)).toContain(
      '**Climber**\n\n- **Price**: 1,200 €\n\n![A red bicycle](https://shop.example/climber.png)',
    );
  });
});
