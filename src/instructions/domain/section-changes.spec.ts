import { describe, expect, it } from '@jest/globals';
import { newId } from '../../platform/ids/index.js';
import { changesBetween } from './section-changes.js';
import { changeSection, planSectionUpdate, removeSection } from './section-list.js';
import type { Section } from './section.js';

const NOW = new Date('2026-02-01T00:00:00.000Z');

function sections(...names: string[]): Section[] {
  const wanted = names.map((name) => ({ name, content: `About ${name}` }));
  return planSectionUpdate([], wanted, { newId, now: NOW });
}

/** The history of putting a list in place; `name=content` for another content than `sections` gives. */
function told(before: readonly Section[], ...list: string[]): unknown {
  const wanted = list.map((entry) => {
    const [name = '', content = `About ${name}`] = entry.split('=');
    return { name, content };
  });
  return changesBetween(before, planSectionUpdate(before, wanted, { newId, now: NOW }));
}

describe('the history of a write of sections', () => {
  it('is empty when nothing changed', () => {
    expect(told(sections('a', 'b'), 'a', 'b')).toEqual([]);
  });

  it('tells of an added and of a removed section with all it says, and of no other', () => {
    expect(told(sections('a', 'b'), 'new', 'b')).toEqual([
      { field: 'sections.a', before: { name: 'a', content: 'About a', position: 0 }, after: null },
      { field: 'sections.new', before: null, after: { name: 'new', content: 'About new', position: 0 } },
    ]);
  });

  it('tells of a changed section only what differs', () => {
    expect(told(sections('a', 'b'), 'a', 'b=x')).toEqual([
      { field: 'sections.b', before: { content: 'About b' }, after: { content: 'x' } },
    ]);
  });

  it('tells of a renamed section under the name that it had', () => {
    const before = sections('a', 'b');
    expect(changesBetween(before, changeSection(before, before[1]?.id ?? '', { name: 'c' }, NOW))).toEqual([
      { field: 'sections.b', before: { name: 'b' }, after: { name: 'c' } },
    ]);
  });

  it('tells of sections that changed places', () => {
    expect(told(sections('a', 'b', 'c'), 'c', 'b', 'a=x')).toEqual([
      { field: 'sections.c', before: { position: 2 }, after: { position: 0 } },
      { field: 'sections.a', before: { content: 'About a', position: 0 }, after: { content: 'x', position: 2 } },
    ]);
  });

  it('does not tell of sections that make room or close a gap', () => {
    expect(told(sections('a', 'b'), 'new', 'a', 'b')).toHaveLength(1);
    const before = sections('a', 'b', 'c');
    expect(changesBetween(before, removeSection(before, before[0]?.id ?? ''))).toHaveLength(1);
  });
});
