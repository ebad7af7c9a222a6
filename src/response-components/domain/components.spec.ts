import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import type { Presented } from './component-kind.js';
import { COMPONENT_NAMES, type ComponentName } from './component-names.js';
import { COMPONENTS } from './components.js';

type Input = Readonly<Record<string, unknown>>;

function read(name: ComponentName, input: Input): Presented {
  const result = COMPONENTS[name].read(input);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.presented;
}

function problems(name: ComponentName, input: Input): readonly string[] {
  const result = COMPONENTS[name].read(input);
  return result.ok ? [] : result.problems;
}

const image = (url: string): Input => ({ title: 'T', image: { url, alt: 'A' } });
const chars = (count: number, char = 'x'): string => char.repeat(count);

describe('the props of', () => {
  it('confirm get default labels', () => {
    expect(read('confirm', { question: 'Sure?' })).toEqual({
      props: { question: 'Sure?', confirmLabel: 'Yes', cancelLabel: 'No' },
      fallback: 'Sure?\n\n- Yes\n- No',
      since: [0, 3, 0],
    });
    expect(read('confirm', { question: 'Weg damit?', confirmLabel: 'Ja', cancelLabel: 'Nein' }).fallback).toBe(
      'Weg damit?\n\n- Ja\n- Nein',
    );
  });

  it.each<[ComponentName, Input]>([
    ['confirm', { question: chars(500), confirmLabel: chars(60), cancelLabel: chars(59) }],
    [
      'select',
      {
        question: chars(500),
        options: Array.from({ length: 10 }, (_, index) => ({ label: `${index}${chars(79)}`, description: chars(200) })),
      },
    ],
    ['select', { question: 'Q', options: [{ label: 'A' }, { label: 'B' }] }],
    [
      'card',
      {
        title: chars(200),
        subtitle: chars(200),
        text: chars(2_000),
        fields: Array(10).fill({ label: chars(80), value: chars(500) }),
      },
    ],
    [
      'card',
      {
        ...image(`https://example.com/${chars(2_028)}`),
        links: Array(5).fill({ label: chars(80), url: 'https://example.com/' }),
      },
    ],
    ['card', { title: 'T', fields: [], links: [] }],
    [
      'list',
      {
        title: chars(200),
        items: Array(20).fill({
          title: chars(200),
          text: chars(1_000),
          links: Array(3).fill({ label: chars(80), url: 'https://example.com/' }),
        }),
      },
    ],
    ['list', { items: [{ title: 'T', image: { url: 'https://example.com/', alt: chars(300) } }] }],
  ])('%s may be as large as its schema says', (name, input) => {
    expect(read(name, input).props).toMatchObject(input);
    expect(new Ajv({ formats: { uri: true } }).validate(COMPONENTS[name].tool.inputSchema, input)).toBe(true);
  });

  it.each<[ComponentName, Input, string]>([
    ['confirm', {}, 'question is missing; it must be a text of 1 to 500 characters.'],
    ['confirm', { question: 7 }, 'question is not a text; it must be a text of 1 to 500 characters.'],
    ['confirm', { question: null }, 'question is not a text; it must be a text of 1 to 500 characters.'],
    ['confirm', { question: ' \n' }, 'question is blank; it must be a text of 1 to 500 characters.'],
    ['confirm', { question: chars(501) }, 'question is too long; it must be a text of 1 to 500 characters.'],
    [
      'confirm',
      { question: 'Q', confirmLabel: chars(61) },
      'confirmLabel is too long; it must be a text of 1 to 60 characters.',
    ],
    ['confirm', { question: 'Q', confirmLabel: 'No' }, 'cancelLabel is the same as confirmLabel; the two must differ.'],
    [
      'confirm',
      { question: 'Q', danger: true },
      'The input has unknown fields ("danger"); allowed are question, confirmLabel, cancelLabel.',
    ],
    [
      'select',
      { question: 'Q', options: [{ label: 'A' }] },
      'options has too few entries; it must be a list of 2 to 10 entries.',
    ],
    [
      'select',
      { question: 'Q', options: Array.from({ length: 11 }, (_, index) => ({ label: `L${index}` })) },
      'options has too many entries; it must be a list of 2 to 10 entries.',
    ],
    ['select', { question: 'Q', options: 'A, B' }, 'options is not a list; it must be a list of 2 to 10 entries.'],
    [
      'select',
      { question: 'Q', options: ['A', { label: 'B' }] },
      'options[0] must be an object; allowed are label, description.',
    ],
    [
      'select',
      { question: 'Q', options: [{ label: 'A' }, { label: ' A' }] },
      'options has the label " A" twice; all labels must differ.',
    ],
    [
      'select',
      { question: 'Q', options: [{ label: 'é' }, { label: 'e\u0301' }] },
      'options has the label "e\u0301" twice; all labels must differ.',
    ],
    [
      'select',
      { question: 'Q', options: [{ label: 'Pay' }, { label: 'Pay\u200d' }] },
      'options has the label "Pay\u200d" twice; all labels must differ.',
    ],
    [
      'confirm',
      { question: 'Q', cancelLabel: 'Yes\u200b' },
      'cancelLabel is the same as confirmLabel; the two must differ.',
    ],
    ['confirm', { question: '\u3164\u2800' }, 'question is blank; it must be a text of 1 to 500 characters.'],
    [
      'confirm',
      { question: 'Q', confirmLabel: '\u202eoN' },
      'confirmLabel has characters that cannot be shown; it must be a text of 1 to 60 characters.',
    ],
    [
      'select',
      { question: 'Q', options: [{ label: 'A' }, { label: 'B', value: 2 }] },
      'options[1] has unknown fields ("value"); allowed are label, description.',
    ],
    [
      'card',
      { title: 'T', fields: Array(11).fill({ label: 'L', value: 'V' }) },
      'fields has too many entries; it must be a list of at most 10 entries.',
    ],
    [
      'card',
      { title: 'T', links: Array(6).fill({ label: 'L', url: 'https://a.example' }) },
      'links has too many entries; it must be a list of at most 5 entries.',
    ],
    [
      'card',
      { title: 'T', image: { url: 'https://a.example' } },
      'image.alt is missing; it must be a text of 1 to 300 characters.',
    ],
    ['list', { items: [] }, 'items has too few entries; it must be a list of 1 to 20 entries.'],
    [
      'list',
      { items: Array(21).fill({ title: 'T' }) },
      'items has too many entries; it must be a list of 1 to 20 entries.',
    ],
    [
      'list',
      { items: [{ title: 'T', links: Array(4).fill({ label: 'L', url: 'https://a.example' }) }] },
      'items[0].links has too many entries; it must be a list of at most 3 entries.',
    ],
  ])('%s are refused by name and rule: %j', (name, input, problem) => {
    expect(problems(name, input)).toEqual([problem]);
  });

  it('are counted in Unicode code points', () => {
    expect(read('confirm', { question: chars(500, '🚲') }).props).toMatchObject({ question: chars(500, '🚲') });
    expect(problems('confirm', { question: chars(501, '🚲') })).toHaveLength(1);
  });

  it.each(['a\u0000b', 'a\u001bb', 'a\u0085b', '\ud83d', 'x\udeb2'])(
    'may not contain characters that cannot be shown or stored: %j',
    (question) => {
      expect(problems('confirm', { question })).toEqual([expect.stringContaining('cannot be shown')]);
      expect(read('confirm', { question: 'a\nb\tc' }).props).toMatchObject({ question: 'a\nb\tc' });
    },
  );

  it('get errors for a few mistakes at a time, which quote little of the input', () => {
    const unknown = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}${chars(10_000)}`, 1]));
    const [some, ...others] = problems('list', {
      items: [{ title: '', ...unknown }, ...Array<unknown>(19).fill(chars(10_000))],
    });
    expect(others).toHaveLength(3);
    expect(others.at(-1)).toBe('There are 18 more mistakes.');
    expect([some, ...others].join('').length).toBeLessThan(1_000);
  });

  it.each(['__proto__', 'constructor', 'toString'])('may not have other fields, such as %s', (name) => {
    const input = JSON.parse(`{"question": "Q", "${name}": {"confirmLabel": "Hi"}}`) as Input;
    expect(problems('confirm', input)).toEqual([expect.stringContaining(`"${name}"`)]);
  });
});

describe('a URL', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,<script>',
    'http://example.com/',
    'ftp://example.com/',
    '//example.com/',
    '/path',
    'example.com',
    'https://',
    'https://exa mple.com/',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    `https://example.com/${chars(2_029)}`,
    `https://example.com/${chars(1_000, 'ü')}`,
    '',
    7,
  ])('is refused: %j', (url) => {
    for (const [name, input] of [
      ['card', image(url as string)],
      ['list', { items: [image(url as string)] }],
    ] as const) {
      expect(problems(name, input)).toEqual([
        expect.stringMatching(/image\.url is not .*; it must be an absolute https URL of at most 2048 characters/),
      ]);
    }
  });

  it.each([
    ['HTTPS://Example.COM', 'https://example.com/'],
    [' https://example.com/a b\n', 'https://example.com/a%20b'],
    ['https://example.com/"><script>', 'https://example.com/%22%3E%3Cscript%3E'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https:\\\\example.com\\a', 'https://example.com/a'],
    ['https://@example.com/', 'https://example.com/'],
  ])('is stored as browsers write it: %j', (url, stored) => {
    expect(read('card', image(url)).props).toMatchObject({ image: { url: stored } });
  });
});

describe('the first widget that draws', () => {
  it('a card depends on whether it has an image or links', () => {
    expect(read('card', { title: 'T' }).since).toEqual([0, 4, 0]);
    expect(read('card', image('https://a.example')).since).toEqual([0, 5, 0]);
    expect(read('card', { title: 'T', links: [{ label: 'L', url: 'https://a.example' }] }).since).toEqual([0, 5, 0]);
    expect(read('list', { items: [{ title: 'T' }] }).since).toEqual([0, 5, 0]);
    expect(read('select', { question: 'Q', options: [{ label: 'A' }, { label: 'B' }] }).since).toEqual([0, 3, 0]);
  });
});

it.each(COMPONENT_NAMES)('the schema of %s is accepted by providers: strict at every level', (name) => {
  const { inputSchema } = COMPONENTS[name].tool;
  expect(new Ajv({ strict: true, formats: { uri: true } }).validateSchema(inputSchema)).toBe(true);
  const text = JSON.stringify(inputSchema);
  expect(text).not.toMatch(/\$schema|\$ref|\$defs/);
  expect(text.match(/"type":"object"/g)).toHaveLength(text.match(/"additionalProperties":false/g)?.length ?? 0);
});
