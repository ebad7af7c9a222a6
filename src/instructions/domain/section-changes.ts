import type { FieldChange } from '../../agents/index.js';
import type { Section } from './section.js';

/** The part of an agent's versions that its sections are. */
export const SECTIONS_FIELD = 'sections';

type Told = Partial<Pick<Section, 'name' | 'content' | 'position'>>;

/**
 * What an agent's history tells of a write: one entry a section that was added, removed or changed, under the
 * name it had before, with the fields that differ. A section that only makes room or closes a gap is not told
 * of: it has not moved among its neighbours.
 */
export function changesBetween(before: readonly Section[], after: readonly Section[]): FieldChange[] {
  const old = new Map(before.map((section) => [section.id, section]));
  const kept = new Set(after.map(({ id }) => id));
  const moved = movedAmong(
    before.filter(({ id }) => kept.has(id)),
    after.filter(({ id }) => old.has(id)),
  );
  const removed = before.filter(({ id }) => !kept.has(id)).map((section) => change(section.name, whole(section), null));
  const others = after.flatMap((section) => {
    const known = old.get(section.id);
    if (!known) return [change(section.name, null, whole(section))];
    const fields = differing(known, section, moved.has(section.id));
    return fields.length === 0 ? [] : [change(known.name, picked(known, fields), picked(section, fields))];
  });
  return [...removed, ...others];
}

/** The ids whose place among the sections of both lists differs. */
function movedAmong(before: readonly Section[], after: readonly Section[]): ReadonlySet<string> {
  return new Set(after.filter(({ id }, index) => before[index]?.id !== id).map(({ id }) => id));
}

function differing(before: Section, after: Section, moved: boolean): (keyof Told)[] {
  return [
    ...(before.name === after.name ? [] : (['name'] as const)),
    ...(before.content === after.content ? [] : (['content'] as const)),
    ...(moved ? (['position'] as const) : []),
  ];
}

function whole(section: Section): Told {
  return picked(section, ['name', 'content', 'position']);
}

function picked(section: Section, fields: readonly (keyof Told)[]): Told {
  return Object.fromEntries(fields.map((field) => [field, section[field]]));
}

function change(name: string, before: Told | null, after: Told | null): FieldChange {
  return { field: `${SECTIONS_FIELD}.${name}`, before, after };
}
