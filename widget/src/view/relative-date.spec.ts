import { describe, expect, it } from '@jest/globals';
import { relativeDate } from './relative-date.js';

const NOW = Date.parse('2026-03-10T12:00:00Z');

describe('relativeDate', () => {
  it.each([
    ['2026-03-10T11:59:50Z', 'now'],
    ['2026-03-10T11:30:00Z', '30 minutes ago'],
    ['2026-03-10T09:00:00Z', '3 hours ago'],
    ['2026-03-09T11:00:00Z', 'yesterday'],
    ['2026-02-24T11:00:00Z', '2 weeks ago'],
    ['2024-01-01T00:00:00Z', '2 years ago'],
    // The clock of the visitor's computer may be behind.
    ['2026-03-10T12:05:00Z', 'now'],
    ['soon', ''],
  ])('%s is %s', (at, text) => {
    expect(relativeDate(at, NOW, 'en')).toBe(text);
  });

  it('speaks the language of the locale', () => {
    expect(relativeDate('2026-03-10T11:30:00Z', NOW, 'de')).toBe('vor 30 Minuten');
  });
});
