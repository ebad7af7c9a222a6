import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';
import {
  DuplicateSectionNames,
  ExistingDuplicateSectionNames,
  SectionNameTaken,
  SectionNotFound,
} from './instructions.errors.js';
import { duplicateNames, type Section, type SectionText } from './section.js';

/*
 * Each kind of write is a function from the present list to the new one, both in prompt order and numbered from 0.
 * `differenceOf` says what has to be stored. Sections that a write does not change are the same objects in both lists.
 */

/** The id and the time for new and changed sections. */
export interface Stamp {
  readonly newId: () => string;
  readonly now: Date;
}

/** A section in a version of the agent. */
const rememberedSection = z.object({ id: z.string(), name: z.string(), content: z.string() });
export type RememberedSection = Stored<typeof rememberedSection>;
export const rememberedSections = z.array(rememberedSection);

/**
 * Replaces the list, matched by name: a section with a known name keeps its id, a new name creates a section, and sections that
 * are not listed are removed. A section with the same content and position keeps its `updatedAt`.
 * @throws DuplicateSectionNames when `wanted` repeats a name
 * @throws ExistingDuplicateSectionNames when stored sections share a name
 */
export function planSectionUpdate(
  current: readonly Section[],
  wanted: readonly SectionText[],
  stamp: Stamp,
): Section[] {
  const repeated = duplicateNames(wanted);
  if (repeated.length > 0) throw new DuplicateSectionNames(repeated);
  const ambiguous = duplicateNames(current);
  if (ambiguous.length > 0) throw new ExistingDuplicateSectionNames(ambiguous);
  const byName = new Map(current.map((section) => [section.name, section]));
  return wanted.map((text, position) => {
    const known = byName.get(text.name);
    return known ? changed(known, { ...text, position }, stamp.now) : created(stamp.newId(), text, position, stamp.now);
  });
}

/** @throws SectionNameTaken */
export function appendSection(current: readonly Section[], text: SectionText, stamp: Stamp): Section[] {
  requireFree(current, text.name);
  return [...current, created(stamp.newId(), text, current.length, stamp.now)];
}

/** @throws SectionNotFound, SectionNameTaken */
export function changeSection(
  current: readonly Section[],
  id: string,
  change: Partial<SectionText>,
  now: Date,
): Section[] {
  const { name, content } = findSection(current, id);
  const text = { name: change.name ?? name, content: change.content ?? content };
  // A section that already shares its name with another may keep it.
  if (text.name !== name) requireFree(current, text.name);
  return current.map((section) => (section.id === id ? changed(section, text, now) : section));
}

/** @throws SectionNotFound */
export function removeSection(current: readonly Section[], id: string): Section[] {
  findSection(current, id);
  return current
    .filter((section) => section.id !== id)
    .map((section, position) => (section.position === position ? section : { ...section, position }));
}

/** Restores the sections of a version, matched by id, because names may have changed. */
export function restoreSections(
  current: readonly Section[],
  remembered: readonly RememberedSection[],
  now: Date,
): Section[] {
  const byId = new Map(current.map((section) => [section.id, section]));
  return remembered.map(({ id, name, content }, position) => {
    const known = byId.get(id);
    return known ? changed(known, { name, content, position }, now) : created(id, { name, content }, position, now);
  });
}

/** @throws SectionNotFound */
export function findSection(sections: readonly Section[], id: string): Section {
  const section = sections.find((candidate) => candidate.id === id);
  if (!section) throw new SectionNotFound();
  return section;
}

/** The writes that turn one stored list into another. */
export interface SectionDifference {
  readonly added: readonly Section[];
  /** Sections whose name or content differs. */
  readonly rewritten: readonly Section[];
  readonly removed: readonly Section[];
  /** Whether positions have to be stored. */
  readonly reordered: boolean;
}

/** @returns undefined when nothing differs */
export function differenceOf(before: readonly Section[], after: readonly Section[]): SectionDifference | undefined {
  const old = new Map(before.map((section) => [section.id, section]));
  const kept = new Set(after.map(({ id }) => id));
  const difference: SectionDifference = {
    added: after.filter(({ id }) => !old.has(id)),
    rewritten: after.filter((section) => {
      const known = old.get(section.id);
      return known && (known.name !== section.name || known.content !== section.content);
    }),
    removed: before.filter(({ id }) => !kept.has(id)),
    reordered: before.length !== after.length || after.some(({ id }, index) => before[index]?.id !== id),
  };
  const { added, rewritten, removed, reordered } = difference;
  return reordered || added.length + rewritten.length + removed.length > 0 ? difference : undefined;
}

function requireFree(sections: readonly Section[], name: string): void {
  if (sections.some((section) => section.name === name)) throw new SectionNameTaken();
}

function created(id: string, { name, content }: SectionText, position: number, now: Date): Section {
  return { id, name, content, position, createdAt: now, updatedAt: now };
}

function changed(section: Section, change: Partial<SectionText> & { readonly position?: number }, now: Date): Section {
  const next = { ...section, ...change };
  const same = next.name === section.name && next.content === section.content && next.position === section.position;
  return same ? section : { ...next, updatedAt: now };
}
