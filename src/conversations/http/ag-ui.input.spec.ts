import { describe, expect, it } from '@jest/globals';
import { computingMs, computingUnits } from '../../../test/support/computing-time.js';
import { readAgUiInput } from './ag-ui.input.js';

/** The number of values that a body may have. */
const MANY = 200_000;
/** Far more than each case takes on one core; creating an issue for every wrong element takes longer. */
const MAX_CPU_MS = 200;
/** Three times the duration of reading as many names. */
const MAX_NAMES_UNITS = 6;

const base = { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] };

const lists: Readonly<Record<string, readonly unknown[]>> = {
  objects: Array.from({ length: MANY }, () => ({})),
  lists: Array.from({ length: MANY }, () => []),
  numbers: Array.from({ length: MANY }, () => 1),
};
const named = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`name${index}`, 1]));

const shapes = Object.entries(lists).flatMap(([of, list]): [string, object][] => [
  [`messages of ${of}`, { messages: list }],
  [`tools of ${of}`, { tools: list }],
  [`context of ${of}`, { context: list }],
  [`resume of ${of}`, { resume: list }],
  [`state of ${of}`, { state: list }],
  [`forwardedProps of ${of}`, { forwardedProps: list }],
  [`parts of ${of}`, { messages: [{ id: 'm', role: 'user', content: list }] }],
  [`calls of ${of}`, { messages: [{ id: 'm', role: 'assistant', toolCalls: list }] }],
  [
    `1,000 messages with parts of ${of}`,
    { messages: Array.from({ length: 1_000 }, () => ({ id: 'm', role: 'user', content: list.slice(0, 200) })) },
  ],
]);

/** The input may be refused or accepted, but quickly. */
function read(body: unknown): void {
  try {
    readAgUiInput(body);
  } catch {
    return;
  }
}

describe('a run input of as many values as a body may have', () => {
  it.each(shapes)('is read at once: %s', (_what, changes) => {
    expect(computingMs(() => read({ ...base, ...changes }))).toBeLessThan(MAX_CPU_MS);
  });

  it.each([
    ['unknown fields', named],
    ['a message of unknown fields', { messages: [{ ...base.messages[0], ...named }] }],
    [
      'a part of unknown fields',
      { messages: [{ id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi', ...named }] }] },
    ],
    ['a user context of so many entries', { forwardedProps: { userContext: named } }],
  ])('that are named is read at once: %s', (_what, changes) => {
    expect(computingUnits(() => read({ ...base, ...changes }))).toBeLessThan(MAX_NAMES_UNITS);
  });
});
