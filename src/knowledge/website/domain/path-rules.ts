import { MAX_WILDCARD_RULES } from '../limits.js';

export interface PathRule {
  readonly allow: boolean;
  /** As in robots.txt: the beginning of a path, with `*` for anything and `$` for the end. Not empty. */
  readonly pattern: string;
}

interface WildcardRule {
  readonly allow: boolean;
  readonly length: number;
  /** The texts between the wildcards. */
  readonly parts: readonly string[];
  readonly literalLength: number;
  readonly anchored: boolean;
}

/**
 * Which paths a group of rules allows. Of the rules that match, the longest decides; of two with equal length, the one that
 * allows (RFC 9309, 2.2.2). A file may have half a megabyte of rules, and every link is checked. So rules without wildcards are
 * looked up in a map, and each of the others is compared in time linear to the path.
 */
export class PathRules {
  private readonly prefixes = new Map<string, boolean>();
  /** Lengths of the prefixes, longest first. */
  private readonly lengths: readonly number[];
  private readonly wildcards: readonly WildcardRule[];

  constructor(rules: readonly PathRule[]) {
    const wildcards: WildcardRule[] = [];
    for (const { allow, pattern } of rules) {
      const normalized = normalizedPattern(pattern);
      const [prefix = ''] = normalized.split(/[*$]/, 1);
      if (prefix === normalized) this.addPrefix(prefix, allow);
      else if (wildcards.length < MAX_WILDCARD_RULES) wildcards.push(compile(normalized, allow));
      // Beyond the limit the part before the wildcard counts: it may forbid more than the rule does, never less.
      else if (!allow) this.addPrefix(prefix, false);
    }
    this.lengths = [...new Set([...this.prefixes.keys()].map(({ length }) => length))].sort((a, b) => b - a);
    this.wildcards = wildcards.sort((a, b) => b.length - a.length || Number(b.allow) - Number(a.allow));
  }

  allows({ pathname, search }: Pick<URL, 'pathname' | 'search'>): boolean {
    if (pathname === '/robots.txt') return true;
    const path = normalizedPath(pathname + search);
    const prefix = this.longestPrefix(path);
    const wildcard = this.wildcards.find((rule) => matches(rule, path));
    if (wildcard === undefined || (prefix !== undefined && prefix.length > wildcard.length))
      return prefix?.allow ?? true;
    return prefix?.length === wildcard.length ? prefix.allow || wildcard.allow : wildcard.allow;
  }

  private addPrefix(prefix: string, allow: boolean): void {
    this.prefixes.set(prefix, allow || this.prefixes.get(prefix) === true);
  }

  private longestPrefix(path: string): { readonly length: number; readonly allow: boolean } | undefined {
    for (const length of this.lengths) {
      const allow = length <= path.length ? this.prefixes.get(path.slice(0, length)) : undefined;
      if (allow !== undefined) return { length, allow };
    }
    return undefined;
  }
}

function compile(pattern: string, allow: boolean): WildcardRule {
  const anchored = pattern.endsWith('$');
  const parts = (anchored ? pattern.slice(0, -1) : pattern).split(/\*+/);
  // A wildcard at the end of a rule without `$` changes nothing.
  if (!anchored && parts.length > 1 && parts.at(-1) === '') parts.pop();
  return {
    allow,
    length: pattern.length,
    parts,
    literalLength: parts.reduce((sum, { length }) => sum + length, 0),
    anchored,
  };
}

/** Takes the first occurrence of each part: where that one does not lead to a match, no later one does. */
function matches({ parts, literalLength, anchored }: WildcardRule, path: string): boolean {
  const [first = '', ...others] = parts;
  if (literalLength > path.length || !path.startsWith(first)) return false;
  const last = anchored ? others.pop() : undefined;
  let position = first.length;
  for (const part of others) {
    const found = path.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  if (!anchored) return true;
  return last === undefined ? position === path.length : path.length - last.length >= position && path.endsWith(last);
}

/** Escapes, characters that need one, and `*` and `$`. */
const ENCODED = /%[0-9a-f]{2}|[^\w\-.~:/?#[\]@!&'()+,;=]/gi;
const UNRESERVED = /^[\w\-.~]$/;

/** Escapes `*` and `$` too: patterns write these characters as `%2A` and `%24`. */
function normalizedPath(path: string): string {
  return path.replace(ENCODED, normalizedCharacters);
}

function normalizedPattern(pattern: string): string {
  const end = pattern.endsWith('$') ? '$' : '';
  return (
    (end === '' ? pattern : pattern.slice(0, -1)).replace(ENCODED, (found) =>
      found === '*' ? found : normalizedCharacters(found),
    ) + end
  );
}

/** One spelling for each character (RFC 9309, 2.2.2): unreserved characters unescaped, all others escaped in upper case. */
function normalizedCharacters(found: string): string {
  if (found.length === 1) return encoded(found.charCodeAt(0));
  const code = Number.parseInt(found.slice(1), 16);
  const character = String.fromCharCode(code);
  return UNRESERVED.test(character) ? character : encoded(code);
}

function encoded(code: number): string {
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
