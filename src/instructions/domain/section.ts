export const NAME_LENGTH = { min: 1, max: 200 } as const;
export const CONTENT_LENGTH = { min: 1, max: 100_000 } as const;
/** In one `PUT`; an agent may have more sections, added one by one. */
export const MAX_SECTIONS = 100;

/** A section in a request. Names are compared exactly. */
export interface SectionText {
  readonly name: string;
  readonly content: string;
}

export interface Section extends SectionText {
  readonly id: string;
  /** Index in the order of the prompt, from 0. */
  readonly position: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The names that occur more than once, in the order of their first occurrence. */
export function duplicateNames(sections: readonly { readonly name: string }[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { name } of sections) {
    if (seen.has(name)) repeated.add(name);
    seen.add(name);
  }
  return [...seen].filter((name) => repeated.has(name));
}
