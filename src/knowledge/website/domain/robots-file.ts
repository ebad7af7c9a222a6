import { MAX_CRAWL_DELAY_MS, MAX_LOCATION_LENGTH, MAX_ROBOTS_SITEMAPS, PRODUCT_TOKEN } from '../limits.js';
import type { PathRule } from './path-rules.js';

/** What a robots.txt file says to one crawler. */
export interface RobotsFile {
  readonly rules: readonly PathRule[];
  /** At most 30 s; 0 where there is none. */
  readonly crawlDelayMs: number;
  /** Absolute URLs, as they are written. */
  readonly sitemaps: readonly string[];
}

interface Group {
  /** Product tokens in lower case, and `*`. */
  readonly agents: Set<string>;
  readonly rules: PathRule[];
  crawlDelayMs: number;
}

type Line = readonly [name: string, value: string];

/**
 * @param content with which the file begins; bytes are kept as they are, since the encoding of a path is the site's own affair
 * @param token of the crawler, in lower case
 */
export function readRobotsFile(content: Buffer, token: string): RobotsFile {
  const lines = linesOf(content);
  const groups = groupsOf(lines);
  const named = groups.filter(({ agents }) => agents.has(token));
  const heeded = named.length > 0 ? named : groups.filter(({ agents }) => agents.has('*'));
  return {
    rules: heeded.flatMap(({ rules }) => rules),
    crawlDelayMs: Math.max(0, ...heeded.map(({ crawlDelayMs }) => crawlDelayMs)),
    sitemaps: sitemapsOf(lines),
  };
}

function linesOf(content: Buffer): readonly Line[] {
  return asBytes(content)
    .split(/\r\n|\r|\n/)
    .flatMap((line): Line[] => {
      const [text = ''] = line.split('#', 1);
      const colon = text.indexOf(':');
      return colon === -1 ? [] : [[text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()]];
    });
}

/** One character a byte. */
function asBytes(content: Buffer): string {
  const utf16 = { fffe: 'utf-16le', feff: 'utf-16be' }[content.toString('hex', 0, 2)];
  if (utf16 !== undefined) return Buffer.from(new TextDecoder(utf16).decode(content)).toString('latin1');
  const bom = content.toString('hex', 0, 3) === 'efbbbf' ? 3 : 0;
  return content.toString('latin1', bom);
}

/** Only rules end the list of agents that a group begins with: what is no part of the protocol must not get in its way (RFC 9309, 2.2.4). */
function groupsOf(lines: readonly Line[]): readonly Group[] {
  const groups: Group[] = [];
  let group: Group | undefined;
  let hasRules = true;
  for (const [name, value] of lines) {
    if (name === 'user-agent') {
      if (!group || hasRules) groups.push((group = { agents: new Set(), rules: [], crawlDelayMs: 0 }));
      hasRules = false;
      group.agents.add(agentOf(value));
    } else if (name === 'allow' || name === 'disallow') {
      hasRules = true;
      if (value !== '') group?.rules.push({ allow: name === 'allow', pattern: value });
    } else if (name === 'crawl-delay' && group) {
      group.crawlDelayMs = Math.max(group.crawlDelayMs, delayOf(value));
    }
  }
  return groups;
}

/** Versions and remarks often follow the token. */
function agentOf(value: string): string {
  return value.startsWith('*') ? '*' : (/^[\w-]*/.exec(value)?.[0] ?? '').toLowerCase();
}

function delayOf(value: string): number {
  const seconds = Number(/^\d{0,9}(?:\.\d{1,9})?/.exec(value)?.[0] ?? '');
  return Math.min(Math.round(seconds * 1_000), MAX_CRAWL_DELAY_MS);
}

function sitemapsOf(lines: readonly Line[]): readonly string[] {
  const urls = lines
    .filter(([name, value]) => name === 'sitemap' && value.length <= MAX_LOCATION_LENGTH)
    .map(([, value]) => Buffer.from(value, 'latin1').toString('utf8'))
    .filter((url) => /^https?:\/\//i.test(url) && URL.canParse(url));
  return [...new Set(urls)].slice(0, MAX_ROBOTS_SITEMAPS);
}

/** Rules that take a value after a colon, as agents take their rules. */
const RULES_WITH_VALUES = ['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'];

/**
 * Whether an `X-Robots-Tag` header forbids this crawler to index the answer. An agent's name counts for the rules that
 * follow it, up to the next name; headers that were sent separately come joined and cannot be told apart.
 */
export function forbidsIndexing(header: string | undefined): boolean {
  let concerned = true;
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const name = part.slice(0, Math.max(colon, 0)).trim();
    const isAgent = colon !== -1 && !RULES_WITH_VALUES.includes(name);
    if (isAgent) concerned = name === PRODUCT_TOKEN || name === '*';
    const rule = (isAgent ? part.slice(colon + 1) : part).trim();
    if (concerned && (rule === 'noindex' || rule === 'none')) return true;
  }
  return false;
}
