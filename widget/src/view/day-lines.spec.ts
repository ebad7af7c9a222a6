import { describe, expect, it } from '@jest/globals';
import { dayLabel, positionsOf } from './day-lines.js';
import { ENGLISH } from './strings.js';

const at = (day: number, hour: number, minute = 0): number => new Date(2026, 2, day, hour, minute).getTime();
const marks = (...messages: ['user' | 'assistant', number][]): string[] =>
  positionsOf(messages.map(([role, createdAt]) => ({ role, createdAt }))).map(
    ({ startsDay, startsGroup, endsGroup }) =>
      `${startsDay ? 'day ' : ''}${startsGroup ? '[' : ''}${endsGroup ? ']' : ''}`,
  );

describe('the position of messages', () => {
  it('groups those of one side that follow each other', () => {
    expect(
      marks(
        ['user', at(1, 9)],
        ['user', at(1, 9, 1)],
        ['assistant', at(1, 9, 2)],
        ['assistant', at(1, 9, 3)],
        ['user', at(1, 9, 4)],
      ),
    ).toEqual(['day [', ']', '[', ']', '[]']);
  });

  it('separates those that are more than five minutes apart', () => {
    expect(marks(['user', at(1, 9)], ['user', at(1, 9, 5)], ['user', at(1, 9, 11)])).toEqual(['day [', ']', '[]']);
  });

  it('separates days at midnight', () => {
    expect(marks(['user', at(1, 23, 59)], ['user', at(2, 0, 1)])).toEqual(['day []', 'day []']);
  });

  it('never goes back to an earlier day, whatever the clocks of both sides say', () => {
    const days = positionsOf(
      [at(2, 9), at(1, 9), at(2, 10), at(1, 10), at(3, 1)].map((createdAt, index) => ({
        role: index % 2 === 0 ? 'assistant' : 'user',
        createdAt,
      })),
    );
    expect(days.map(({ startsDay }) => startsDay)).toEqual([true, false, false, false, true]);
    expect(days.map(({ day }) => new Date(day).getDate())).toEqual([2, 2, 2, 2, 3]);
  });
});

describe('the label of a day', () => {
  const now = at(30, 15);
  it.each([
    [at(30, 0), 'Today'],
    [at(29, 23, 59), 'Yesterday'],
    // A day of 23 hours where clocks are put forward.
    [at(29, 0), 'Yesterday'],
    [at(28, 23, 59), 'Saturday, March 28'],
    [new Date(2025, 2, 30).getTime(), 'Sunday, March 30, 2025'],
  ])('of %d is %s', (day, label) => {
    expect(dayLabel(day, now, ENGLISH, 'en-US')).toBe(label);
  });

  it('is written in the language of the page', () => {
    expect(dayLabel(at(28, 9), now, ENGLISH, 'de')).toBe('Samstag, 28. März');
  });
});
