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

/** The history of replacing the list; `name=content` sets a content other than the default of `sections`. */
function changesOf(before: readonly Section[], ...list: string[]): unknown {
  const wanted = list.map((entry) => {
    const [name = '', content = `About ${name}`] = entry.split('=');
    return { name, content };
  });
  return changesBetween(before, planSectionUpdate(before, wanted, { newId, now: NOW }));
}

describe('the history of a write of sections', () => {
  it('is empty when nothing changed', () => {
    expect(changesOf(sections('a', 'b'), 'a', 'b')).toEqual([]);
  });

  it('has an entry with all fields for an added and for a removed section, and no other entry', () => {
    expect(changesOf(sections('a', 'b'), 'new', 'b')).toEqual([
      { field: 'sections.a', before: { name: 'a', content: 'About a', position: 0 }, after: null },
      { field: 'sections.new', before: null, after: { name: 'new', content: 'About new', position: 0 } },
    ]);
  });

  it('has only the fields that differ for a changed section', () => {
    expect(changesOf(sections('a', 'b'), 'a', 'b=x')).toEqual([
      { field: 'sections.b', before: { content: 'About b' }, after: { content: 'x' } },
    ]);
  });

  it('has an entry for a renamed section under its former name', () => {
    const before = sections('a', 'b');
    expect(changesBetween(before, changeSection(before, before[1]?.id ?? '', { name: 'c' }, NOW))).toEqual([
      { field: 'sections.b', before: { name: 'b' }, after: { name: 'c' } },
    ]);
  });

  it('has an entry for sections that changed places', () => {
    expect(changesOf(sections('a', 'b', 'c'), 'c', 'b', 'a=x')).toEqual([
      { field: 'sections.c', before: { position: 2 }, after: { position: 0 } },
      { field: 'sections.a', before: { content: 'About a', position: 0 }, after: { content: 'x', position: 2 } },
    ]);
  });

  it('has no entry for sections whose position changed only because of others', () => {
    expect(changesOf(sections('a', 'b'), 'new', 'a', 'b')).toHaveLength(1);
    const before = sections('a', 'b', 'c');
    expect(changesBetween(before, removeSection(before, before[0]?.id ?? ''))).toHaveLength(1);
  });
});
