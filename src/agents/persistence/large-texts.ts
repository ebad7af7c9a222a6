import { createHash } from 'node:crypto';

/** A text of at least this length is stored once for its agent, however many versions contain it. */
const LARGE_CHARACTERS = 4_096;

/** Begins a reference to a large text. A text that itself begins with the mark is escaped by a second one. */
const MARK = '\u0001';
const REFERENCE = `${MARK}text:`;

export interface LargeText {
  readonly digest: string;
  readonly content: string;
}

/** Collects the large texts of JSON values, each once. */
export class LargeTexts {
  private readonly digests = new Map<string, string>();
  /** The UTF-8 length of all occurrences together. */
  bytes = 0;

  get all(): readonly LargeText[] {
    return [...this.digests].map(([content, digest]) => ({ digest, content }));
  }

  /** @returns a copy of the value with references in place of its large texts */
  extractFrom(value: unknown): unknown {
    return mapTexts(value, (text) => {
      if (text.length < LARGE_CHARACTERS) return text.startsWith(MARK) ? MARK + text : text;
      const digest = this.digests.get(text) ?? createHash('sha256').update(text).digest('base64url');
      this.digests.set(text, digest);
      this.bytes += Buffer.byteLength(text);
      return REFERENCE + digest;
    });
  }
}

/** The digests of the large texts that a value refers to. */
export function digestsIn(value: unknown): Set<string> {
  const digests = new Set<string>();
  mapTexts(value, (text) => {
    if (text.startsWith(REFERENCE)) digests.add(text.slice(REFERENCE.length));
    return text;
  });
  return digests;
}

/**
 * The value with its large texts in place of the references.
 * @param texts by digest
 * @throws Error when one of them is missing
 */
export function withTexts(value: unknown, texts: ReadonlyMap<string, string>): unknown {
  return mapTexts(value, (text) => {
    if (text.startsWith(MARK + MARK)) return text.slice(MARK.length);
    if (!text.startsWith(REFERENCE)) return text;
    const content = texts.get(text.slice(REFERENCE.length));
    if (content === undefined) throw new Error('A text of a version is missing');
    return content;
  });
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, map));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, map)]));
}
