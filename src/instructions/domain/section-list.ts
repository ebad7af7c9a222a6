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
 * What each kind of write makes of an agent's sections. A list goes in, in prompt order and numbered from 0,
 * and the list as it shall be comes out; `differenceOf` tells what of it has to be stored. Sections that a
 * write does not concern are the same objects before and after.
 */

/** What a new or changed section is marked with. */
export interface Stamp {
  readonly newId: () => string;
  readonly now: Date;
}

/** A section as a version of the agent remembers it. */
const rememberedSection = z.object({ id: z.string(), name: z.string(), content: z.string() });
export type RememberedSection = Stored<typeof rememberedSection>;
export const rememberedSections = z.array(rememberedSection);

/**
 * The complete list, matched by name: a known name keeps its section and id, a new one makes a section, what
 * is not listed goes. A section whose content and position stay is left untouched.
 * @throws DuplicateSectionNames when the list names one twice
 * @throws ExistingDuplicateSectionNames when the stored ones cannot be told apart by name
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
    return known ? changed(known, { ...text, position }, stamp.now) : made(stamp.newId(), text, position, stamp.now);
  });
}

/** @throws SectionNameTaken */
export function appendSection(current: readonly Section[], text: SectionText, stamp: Stamp): Section[] {
  requireFree(current, text.name);
  return [...current, made(stamp.newId(), text, current.length, stamp.now)];
}

/** Neither renaming nor rewriting moves a section. @throws SectionNotFound, SectionNameTaken */
export function changeSection(
  current: readonly Section[],
  id: string,
  change: Partial<SectionText>,
  now: Date,
): Section[] {
  const { name, content } = sectionOf(current, id);
  const text = { name: change.name ?? name, content: change.content ?? content };
  // A section that shares its name with another already may still be rewritten under it.
  if (text.name !== name) requireFree(current, text.name);
  return current.map((section) => (section.id === id ? changed(section, text, now) : section));
}

/** The others keep their order, without a gap. @throws SectionNotFound */
export function removeSection(current: readonly Section[], id: string): Section[] {
  sectionOf(current, id);
  return current
    .filter((section) => section.id !== id)
    .map((section, position) => (section.position === position ? section : { ...section, position }));
}

/** The sections as an earlier version had them, matched by id: names may have changed since. */
export function restoreSections(
  current: readonly Section[],
  remembered: readonly RememberedSection[],
  now: Date,
): Section[] {
  const byId = new Map(current.map((section) => [section.id, section]));
  return remembered.map(({ id, name, content }, position) => {
    const known = byId.get(id);
    return known ? changed(known, { name, content, position }, now) : made(id, { name, content }, position, now);
  });
}

/** @throws SectionNotFound */
export function sectionOf(sections: readonly Section[], id: string): Section {
  const section = sections.find((candidate) => candidate.id === id);
  if (!section) throw new SectionNotFound();
  return section;
}

/** What storing one list in place of another takes. */
export interface SectionDifference {
  readonly added: readonly Section[];
  /** Those whose name or content differs. */
  readonly rewritten: readonly Section[];
  readonly removed: readonly Section[];
  /** Whether the order has to be stored anew. */
  readonly reordered: boolean;
}

/** @returns undefined when the lists say the same */
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

function made(id: string, { name, content }: SectionText, position: number, now: Date): Section {
  return { id, name, content, position, createdAt: now, updatedAt: now };
}

function changed(section: Section, change: Partial<SectionText> & { readonly position?: number }, now: Date): Section {
  const next = { ...section, ...change };
  const same = next.name === section.name && next.content === section.content && next.position === section.position;
  return same ? section : { ...next, updatedAt: now };
}
