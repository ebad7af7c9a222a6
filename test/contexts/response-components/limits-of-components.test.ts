import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_FOR_CHANGES, decline, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { answers, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import type { RunResult, Talk } from '../../support/talk.js';
import { readByModel, shownIn, talkWithComponents, WIDGET } from './support.js';

const service = useService({ extensions: scriptedRuns });

const CONFIRM = { question: 'Sure?' };
const SELECT = { question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] };
const CARD = { title: 'Climber' };
const INPUTS = { confirm: CONFIRM, select: SELECT, card: CARD };

/** A response that shows these components. */
function shows(...names: readonly (keyof typeof INPUTS)[]): ModelScript {
  return answers({
    calls: names.map((name, index) => ({ id: `${name}-${index}`, name: `present_${name}`, input: INPUTS[name] })),
  });
}

function componentsOf({ message }: RunResult): string[] {
  return (message?.components ?? []).map(({ component }) => component);
}

async function shownBy(talk: Talk, ...scripts: ModelScript[]): Promise<string[]> {
  service.models.next(...scripts, says('Well?'));
  const { body } = await talk.run('Go', WIDGET);
  expect(body.run.status).toBe('completed');
  return componentsOf(body);
}

const refusals = (): string[] =>
  readByModel(service)
    .filter(({ isError }) => isError)
    .map(({ output }) => output);

describe('at the frequency low', () => {
  it('buttons of either kind are shown once a turn; other components are not limited', async () => {
    const talk = await talkWithComponents(service, { frequency: 'low' });
    expect(await shownBy(talk, shows('confirm', 'select', 'card', 'card'))).toEqual(['confirm', 'card', 'card']);
    expect(refusals()).toEqual([expect.stringContaining('only once in a reply')]);

    const other = await talk.another();
    expect(await shownBy(other, shows('select'), shows('card'), shows('confirm'))).toEqual(['select', 'card']);
    expect(refusals()).toEqual([expect.stringContaining('only once in a reply')]);
  });

  it('the next message of the user begins a new turn', async () => {
    const talk = await talkWithComponents(service, { frequency: 'low' });
    for (const turn of ['one', 'two'])
      expect([turn, await shownBy(talk, shows('confirm'))]).toEqual([turn, ['confirm']]);
  });

  it('a run that resumes after an approval is the same turn; refused buttons do not count', async () => {
    const talk = await talkWithComponents(service, { frequency: 'low' }, { agent: ASKS_FOR_CHANGES });
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    const asksWith = (name: keyof typeof INPUTS, input: object): ModelScript =>
      answers({
        calls: [
          { id: 'b', name: `present_${name}`, input },
          { id: 'p', name: 'pay' },
        ],
      });

    for (const [answer, input, expected] of [
      [approve, CONFIRM, []],
      [decline, CONFIRM, []],
      [approve, { question: '' }, ['select']],
    ] as const) {
      service.models.next(asksWith('confirm', input), shows('select'), says('Well?'));
      const asked = (await talk.run('Pay', WIDGET)).body;
      expect([asked.run.status, componentsOf(asked)]).toEqual([
        'requires_action',
        expected.length === 0 ? ['confirm'] : [],
      ]);
      const { body } = await talk.post({ resume: asked.interrupts.map((one) => answer(one)), ...WIDGET });
      expect([body.run.status, componentsOf(body)]).toEqual(['completed', expected]);
    }
  });
});

it.each(['medium', 'high'] as const)(
  'at the frequency %s buttons are shown as often as the model wants',
  async (frequency) => {
    const talk = await talkWithComponents(service, { frequency });
    expect(await shownBy(talk, shows('confirm', 'select'), shows('confirm'))).toEqual(['confirm', 'select', 'confirm']);
  },
);

it('a reply shows at most ten components', async () => {
  const talk = await talkWithComponents(service);
  const many = Array.from({ length: 6 }, (_, index) => ({
    id: `c${index}`,
    name: 'present_card',
    input: { title: `Card ${index}` },
  }));
  const more = many.map(({ name }, index) => ({ id: `d${index}`, name, input: { title: `More ${index}` } }));
  expect(await shownBy(talk, answers({ calls: many }), answers({ calls: more }))).toHaveLength(10);
  expect(refusals()).toEqual([expect.stringContaining('at most 10'), expect.stringContaining('at most 10')]);
});

describe('a wrong call', () => {
  it('shows nothing, and its result names the wrong field and what is allowed; a corrected call shows the component', async () => {
    const talk = await talkWithComponents(service);
    service.models.next(
      calls('present_confirm', { question: 'Sure?', danger: true }, 'one'),
      calls('present_confirm', CONFIRM, 'two'),
      says(),
    );
    const events = await talk.streamed('Go', WIDGET);
    expect(shownIn(events)).toHaveLength(1);
    expect(readByModel(service)).toMatchObject([
      {
        id: 'one',
        isError: true,
        output: expect.stringMatching(/"danger".*question, confirmLabel, cancelLabel[^]*once more/),
      },
      { id: 'two', isError: false },
    ]);
    const [, stored] = await talk.messages();
    expect(stored?.toolCalls?.map(({ status }) => status)).toEqual(['failed', 'completed']);
  });

  it('is explained twice a turn; after that nothing is shown, and the model is instructed to write text', async () => {
    const talk = await talkWithComponents(service);
    const wrong = (id: string): ModelScript => calls('present_card', { title: id, price: 1 }, id);
    expect(await shownBy(talk, shows('confirm'), wrong('one'), wrong('two'), shows('confirm'), shows('card'))).toEqual([
      'confirm',
    ]);
    expect(refusals()).toEqual([
      expect.stringMatching(/price[^]*once more/),
      expect.stringMatching(/price[^]*plain text/),
      ...Array<unknown>(2).fill(expect.stringMatching(/too many calls were wrong[^]*plain text/)),
    ]);
    expect(await shownBy(talk, shows('confirm'))).toEqual(['confirm']);
  });

  it('in parallel with another counts as one of the two', async () => {
    const talk = await talkWithComponents(service);
    const wrong = ['one', 'two'].map((id) => ({ id, name: 'present_card', input: {} }));
    expect(
      await shownBy(talk, answers({ calls: [...wrong, { id: 'three', name: 'present_card', input: CARD }] })),
    ).toEqual([]);
    expect(refusals()).toHaveLength(3);
  });

  it.each<[string, string, object, RegExp]>([
    [
      'a script as a link',
      'card',
      { title: 'T', links: [{ label: 'L', url: 'javascript:alert(1)' }] },
      /links\[0\]\.url is not allowed.*https/,
    ],
    [
      'a link without TLS',
      'card',
      { title: 'T', links: [{ label: 'L', url: 'http://shop.example/' }] },
      /links\[0\]\.url is not allowed.*https/,
    ],
    [
      'credentials in a link',
      'card',
      { title: 'T', image: { url: 'https://user:pass@shop.example/', alt: 'A' } },
      /image\.url is not allowed.*password/,
    ],
    ['unknown fields', 'list', { items: [{ title: 'T', html: '<b>' }] }, /items\[0\] has unknown fields \("html"\)/],
    [
      'a label of 10,000 characters',
      'select',
      { question: 'Q', options: [{ label: 'x'.repeat(10_000) }, { label: 'B' }] },
      /options\[0\]\.label is too long.*80/,
    ],
    [
      'more emoji than characters are allowed',
      'confirm',
      { question: 'Q', confirmLabel: '🚲'.repeat(61) },
      /confirmLabel is too long.*60/,
    ],
    ['a NUL', 'confirm', { question: 'Sure\u0000?' }, /question has characters that cannot be shown/],
    ['no fields at all', 'select', {}, /question is missing[^]*options is missing/],
  ])('is a call with %s', async (_what, name, input, problem) => {
    const talk = await talkWithComponents(service);
    service.models.next(calls(`present_${name}`, input), says('Well?'));
    const events = await talk.streamed('Go', WIDGET);
    expect(shownIn(events)).toEqual([]);
    expect(refusals()).toEqual([expect.stringMatching(problem)]);
    expect(refusals().join('').length).toBeLessThan(1_000);
    expect((await talk.messages())[1]).toMatchObject({ content: 'Well?', components: [] });
  });
});

it('emoji count as one character each, and the component is stored as it was sent', async () => {
  const talk = await talkWithComponents(service);
  const props = { question: '🚲'.repeat(500), confirmLabel: '👍🏽', cancelLabel: '"><script>alert(1)</script>' };
  service.models.next(calls('present_confirm', props), says());
  const [value] = shownIn(await talk.streamed('Go', WIDGET));
  expect(value).toMatchObject({ component: 'confirm', props });
  expect((await talk.messages())[1]?.components).toEqual([value]);
});
