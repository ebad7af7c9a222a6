import { describe, expect, it } from '@jest/globals';
import { approve } from '../../support/approvals.js';
import { type StreamedEvent, useService } from '../../support/harness.js';
import { answers, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, type MessageView, type Talk } from '../../support/talk.js';
import { talkWithComponents, WIDGET } from './support.js';

const service = useService({ extensions: scriptedRuns });

const LOOK = { id: 'look-1', name: 'look' };
const CARD = { id: 'card-1', name: 'present_card', input: { title: 'Climber' } };

async function talkWithTool(agent: Readonly<Record<string, unknown>> = {}): Promise<Talk> {
  const talk = await talkWithComponents(service, {}, { agent });
  during(talk.threadId, { tools: [tool('look', () => output('Seen'))] });
  return talk;
}

/** What the stream shows: the calls and components in their order, each with the length of the text before it. */
function offsetsIn(events: readonly StreamedEvent[]): (readonly [string, number])[] {
  let length = 0;
  return events.flatMap(({ event }) => {
    if (event.type === 'TEXT_MESSAGE_CONTENT') length += String(event['delta']).length;
    if (event.type === 'TOOL_CALL_START') return [[String(event['toolCallId']), length] as const];
    if (event.type !== 'CUSTOM') return [];
    return [[(event['value'] as { readonly id: string }).id, length] as const];
  });
}

function offsetsOf(message: MessageView | null | undefined): [string, number][] {
  return (message?.partOffsets ?? []).map(({ id, offset }) => [id, offset]);
}

/** The reply as the result of its run, and as it is read later. */
async function repliesOf(talk: Talk, events: readonly StreamedEvent[]): Promise<(MessageView | null | undefined)[]> {
  const { result } = endOf(events) as { readonly result?: { readonly message: MessageView } };
  const read = (await talk.messages()).at(-1);
  return [result?.message, read, (await talk.storedAs(read?.runId ?? '')).body.message];
}

describe('a reply', () => {
  it('says where in its text the calls and components were shown', async () => {
    const talk = await talkWithTool();
    service.models.next(
      answers({ text: 'One 😀', calls: [LOOK] }),
      answers({ text: 'Two', calls: [CARD] }),
      says('Three'),
    );

    const events = await talk.streamed('Hi', WIDGET);

    const replies = await repliesOf(talk, events);
    const card = replies[0]?.components[0]?.id ?? '';
    for (const reply of replies) {
      expect(reply).toMatchObject({ content: 'One 😀\n\nTwo\n\nThree' });
      expect(offsetsOf(reply)).toEqual([
        [LOOK.id, 6],
        [CARD.id, 11],
        [card, 11],
      ]);
      expect(offsetsOf(reply)).toEqual(offsetsIn(events));
      expect(Object.keys(reply?.components[0] ?? {}).sort()).toEqual(['component', 'fallback', 'id', 'props']);
      for (const call of reply?.toolCalls ?? [])
        expect(Object.keys(call).sort()).toEqual(['id', 'input', 'name', 'output', 'status']);
    }
  });

  it('keeps the order of parts without text between them', async () => {
    const talk = await talkWithTool();
    service.models.next(answers({ calls: [CARD] }), answers({ calls: [LOOK] }), says('Done'));

    const events = await talk.streamed('Hi', WIDGET);

    for (const reply of await repliesOf(talk, events)) {
      const card = reply?.components[0]?.id ?? '';
      expect(offsetsOf(reply)).toEqual([
        [CARD.id, 0],
        [card, 0],
        [LOOK.id, 0],
      ]);
      expect(offsetsOf(reply)).toEqual(offsetsIn(events));
    }
  });

  it('places only the components where the tool activity is hidden', async () => {
    const talk = await talkWithTool({ toolProgress: { enabled: false } });
    service.models.next(
      answers({ text: 'One', calls: [LOOK] }),
      answers({ text: 'Two', calls: [CARD] }),
      says('Three'),
    );

    const events = await talk.streamed('Hi', WIDGET);

    expect(offsetsIn(events)).toHaveLength(1);
    for (const reply of await repliesOf(talk, events)) {
      expect(offsetsOf(reply)).toEqual([[reply?.components[0]?.id, 8]]);
      expect(offsetsOf(reply)).toEqual(offsetsIn(events));
    }
  });

  it('has a component before its prose, where the widget is too old for it', async () => {
    const talk = await talkWithTool();
    service.models.next(answers({ text: 'One', calls: [CARD] }), says('Three'));

    const events = await talk.streamed('Hi', { widget: { version: '0.0.1' } });

    for (const reply of await repliesOf(talk, events)) {
      expect(reply?.content).toBe(`One\n\n${reply?.components[0]?.fallback ?? ''}\n\nThree`);
      expect(offsetsOf(reply).map(([, offset]) => offset)).toEqual([3, 3]);
      expect(offsetsOf(reply)).toEqual(offsetsIn(events));
    }
  });

  it('begins with the calls that a person approved, which the run before began', async () => {
    const talk = await talkWithTool({ tools: { requireApprovalBeforeToolCalls: true } });
    service.models.next(answers({ text: 'Shall I?', calls: [LOOK] }));
    const { interrupts, message } = (await talk.run('Hi', WIDGET)).body;
    expect(offsetsOf(message)).toEqual([[LOOK.id, 8]]);
    service.models.next(answers({ text: 'Seen.', calls: [{ ...LOOK, id: 'look-2' }] }));

    await talk.resume(...interrupts.map(approve));

    const [, asked, resumed] = await talk.messages();
    expect([asked, resumed].map(offsetsOf)).toEqual([
      [[LOOK.id, 8]],
      [
        [LOOK.id, 0],
        ['look-2', 5],
      ],
    ]);
  });

  it('has no offsets without such parts, nor where an earlier version has stored it', async () => {
    const talk = await talkWithTool();
    service.models.next(says('Plain'));
    expect((await talk.run('Hi')).body.message).not.toHaveProperty('partOffsets');
    service.models.next(answers({ text: 'One', calls: [LOOK] }), says('Two'));
    const { body } = await talk.run('Hi');
    expect(offsetsOf(body.message)).toHaveLength(1);
    await service.database.query(
      `update messages set tool_calls = jsonb_build_array((tool_calls -> 0) - 'place') where run_id = $1 and role = 'assistant'`,
      [body.run.id],
    );
    const read = (await talk.messages()).at(-1);
    expect(read).toMatchObject({ content: 'One\n\nTwo', toolCalls: [{ id: LOOK.id }] });
    expect(read).not.toHaveProperty('partOffsets');
  });
});
