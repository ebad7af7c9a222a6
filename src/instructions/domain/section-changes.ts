import type { FieldChange } from '../../agents/index.js';
import type { Section } from './section.js';

/** The name of the sections' part in an agent's versions. */
export const SECTIONS_FIELD = 'sections';

type ChangedFields = Partial<Pick<Section, 'name' | 'content' | 'position'>>;

/**
 * The entries of an agent's history for a write: one for each section that was added, removed or changed, under its former name
 * and with the fields that differ. A section whose position changed only because another was added or removed has no entry.
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

/** The ids whose place differs among the sections that both lists have. */
function movedAmong(before: readonly Section[], after: readonly Section[]): ReadonlySet<string> {
  return new Set(after.filter(({ id }, index) => before[index]?.id !== id).map(({ id }) => id));
}

function differing(before: Section, after: Section, moved: boolean): (keyof ChangedFields)[] {
  return [
    ...(before.name === after.name ? [] : (['name'] as const)),
    ...(before.content === after.content ? [] : (['content'] as const)),
    ...(moved ? (['position'] as const) : []),
  ];
}

function whole(section: Section): ChangedFields {
  return picked(section, ['name', 'content', 'position']);
}

function picked(section: Section, fields: readonly (keyof ChangedFields)[]): ChangedFields {
  return Object.fromEntries(fields.map((field) => [field, section[field]]));
}

function change(name: string, before: ChangedFields | null, after: ChangedFields | null): FieldChange {
  return { field: `${SECTIONS_FIELD}.${name}`, before, after };
}
