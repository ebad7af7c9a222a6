import { describe, expect, it } from '@jest/globals';
import { array, assert, boolean, constantFrom, property, record, string, uniqueArray } from 'fast-check';
import { newId } from '../../platform/ids/index.js';
import type { Section, SectionText } from './section.js';
import {
  appendSection,
  changeSection,
  differenceOf,
  planSectionUpdate,
  removeSection,
  restoreSections,
  type Stamp,
} from './section-list.js';

const BEFORE = new Date('2026-01-01T00:00:00.000Z');
const NOW = new Date('2026-02-01T00:00:00.000Z');
const stamp: Stamp = { newId, now: NOW };

function stored(...texts: readonly (string | SectionText)[]): Section[] {
  return texts.map((text, position) => ({
    id: newId(),
    ...(typeof text === 'string' ? { name: text, content: `About ${text}` } : text),
    position,
    createdAt: BEFORE,
    updatedAt: BEFORE,
  }));
}

function textsOf(sections: readonly SectionText[]): SectionText[] {
  return sections.map(({ name, content }) => ({ name, content }));
}

function namesOf(sections: readonly Section[]): string[] {
  return sections.map(({ name }) => name);
}

/** Few names, so that lists overlap; some differ only in an exact comparison. */
const names = constantFrom('tone', 'Tone', ' tone', 'e\u0301', '\u00e9', 'limits', '__proto__', 'constructor', '😀');
const text = record({ name: names, content: string({ minLength: 1, maxLength: 3 }) });
const list = uniqueArray(text, { selector: ({ name }) => name });
const anyList = array(text);

describe('the complete list of sections', () => {
  it('is stored afterwards, numbered from 0, whatever was stored before', () => {
    assert(
      property(list, list, (old, wanted) => {
        const planned = planSectionUpdate(stored(...old), wanted, stamp);
        expect(textsOf(planned)).toEqual(wanted);
        expect(planned.map(({ position }) => position)).toEqual(wanted.map((_, index) => index));
        expect(new Set(planned.map(({ id }) => id)).size).toBe(wanted.length);
      }),
    );
  });

  it('keeps the id and the creation time of sections with known names', () => {
    assert(
      property(list, list, (old, wanted) => {
        const current = stored(...old);
        for (const section of planSectionUpdate(current, wanted, stamp)) {
          const known = current.find(({ name }) => name === section.name);
          if (known) expect(section).toMatchObject({ id: known.id, createdAt: BEFORE });
          else expect(current.map(({ id }) => id)).not.toContain(section.id);
        }
      }),
    );
  });

  it('keeps a section unchanged exactly when neither its content nor its position changed', () => {
    assert(
      property(list, list, (old, wanted) => {
        const current = stored(...old);
        for (const section of planSectionUpdate(current, wanted, stamp)) {
          const known = current.find(({ name }) => name === section.name);
          const same = known?.content === section.content && known.position === section.position;
          expect(section.updatedAt).toEqual(same ? BEFORE : NOW);
          if (same) expect(section).toBe(known);
        }
      }),
    );
  });

  it('changes nothing the second time', () => {
    assert(
      property(list, list, (old, wanted) => {
        const once = planSectionUpdate(stored(...old), wanted, stamp);
        expect(differenceOf(once, planSectionUpdate(once, wanted, stamp))).toBeUndefined();
      }),
    );
  });

  it('is refused when it repeats names, and the error lists each of them once', () => {
    const wanted = ['a', 'b', 'a', 'c', 'b', 'a'].map((name) => ({ name, content: 'x' }));
    expect(() => planSectionUpdate([], wanted, stamp)).toThrow(
      expect.objectContaining({ error: 'duplicate_section_names', extra: { names: ['a', 'b'] } }),
    );
  });

  it('is refused when stored sections share a name, even when it would delete them', () => {
    const current = stored('a', 'b', 'b');
    for (const wanted of [[], textsOf(stored('a', 'b'))]) {
      expect(() => planSectionUpdate(current, wanted, stamp)).toThrow(
        expect.objectContaining({ error: 'existing_duplicate_section_names', extra: { names: ['b'] } }),
      );
    }
  });
});

describe('a section', () => {
  it('is added at the end, and refused under the name of another', () => {
    const current = stored('a', 'b');
    const added = appendSection(current, { name: 'A', content: 'x' }, stamp);
    expect(added.slice(0, 2)).toEqual(current);
    expect(added[2]).toMatchObject({ name: 'A', content: 'x', position: 2, createdAt: NOW, updatedAt: NOW });
    expect(() => appendSection(current, { name: 'b', content: 'x' }, stamp)).toThrow(
      expect.objectContaining({ error: 'section_name_taken' }),
    );
  });

  it('is renamed and rewritten at its position', () => {
    const [first, second, third] = stored('a', 'b', 'c') as [Section, Section, Section];
    const renamed = changeSection([first, second, third], second.id, { name: 'z' }, NOW);
    expect(renamed).toEqual([first, { ...second, name: 'z', updatedAt: NOW }, third]);
    expect(changeSection(renamed, second.id, { content: 'x' }, NOW)[1]).toMatchObject({ name: 'z', content: 'x' });
  });

  it('is kept unchanged by a change without effect', () => {
    const current = stored('a');
    const [{ id, name, content }] = current as [Section];
    expect(differenceOf(current, changeSection(current, id, { name, content }, NOW))).toBeUndefined();
  });

  it('is refused the name of another, but may keep one that it already shares', () => {
    const [first, second, third] = stored('a', 'b', 'b') as [Section, Section, Section];
    expect(() => changeSection([first, second, third], first.id, { name: 'b' }, NOW)).toThrow(
      expect.objectContaining({ error: 'section_name_taken' }),
    );
    expect(changeSection([first, second, third], third.id, { name: 'b', content: 'x' }, NOW)[2]?.content).toBe('x');
  });

  it('is removed without leaving a gap or changing the order of the others', () => {
    const current = stored('a', 'b', 'c', 'd');
    const left = removeSection(current, current[1]?.id ?? '');
    expect(left.map(({ name, position, updatedAt }) => [name, position, updatedAt])).toEqual([
      ['a', 0, BEFORE],
      ['c', 1, BEFORE],
      ['d', 2, BEFORE],
    ]);
  });

  it('that the agent does not have is neither changed nor removed', () => {
    const absent = expect.objectContaining({ error: 'section_not_found' });
    expect(() => changeSection(stored('a'), newId(), { name: 'b' }, NOW)).toThrow(absent);
    expect(() => removeSection(stored('a'), newId())).toThrow(absent);
  });
});

describe('the sections of an earlier version', () => {
  it('are restored with their ids, whatever changed since', () => {
    assert(
      property(anyList, anyList, boolean(), (then, since, keeps) => {
        const earlier = stored(...then);
        const now = [...stored(...since), ...(keeps ? earlier : [])];
        const current = now.map((section, position) => ({ ...section, position }));
        const restored = restoreSections(current, earlier, NOW);
        expect(restored.map(({ id, name, content, position }) => ({ id, name, content, position }))).toEqual(
          earlier.map(({ id, name, content, position }) => ({ id, name, content, position })),
        );
      }),
    );
  });
});

describe('the difference between two lists', () => {
  it('is undefined between equal lists', () => {
    const current = stored('a', 'b');
    expect(differenceOf(current, [...current])).toBeUndefined();
    expect(differenceOf([], [])).toBeUndefined();
  });

  it('lists added, changed and removed sections, and leaves out those that only moved', () => {
    const current = stored('a', 'b', 'c');
    const wanted = [...textsOf(stored('c')), { name: 'b', content: 'x' }, { name: 'd', content: 'y' }];
    const difference = differenceOf(current, planSectionUpdate(current, wanted, stamp));
    expect(difference && { ...difference, added: namesOf(difference.added) }).toMatchObject({
      added: ['d'],
      rewritten: [{ name: 'b', content: 'x' }],
      removed: [{ name: 'a' }],
      reordered: true,
    });
    expect(namesOf(difference?.rewritten ?? [])).toEqual(['b']);
  });

  it('distinguishes a new order from new contents', () => {
    const current = stored('a', 'b');
    const swapped = planSectionUpdate(current, textsOf(current).toReversed(), stamp);
    expect(differenceOf(current, swapped)).toEqual({ added: [], rewritten: [], removed: [], reordered: true });
    const [{ id }] = current as [Section];
    expect(differenceOf(current, changeSection(current, id, { content: 'x' }, NOW))?.reordered).toBe(false);
  });
});
