import { MAX_CRAWL_DELAY_MS, MAX_LOCATION_LENGTH, MAX_ROBOTS_SITEMAPS, PRODUCT_TOKEN } from '../limits.js';
import type { PathRule } from './path-rules.js';

/** The rules of a robots.txt file for one crawler. */
export interface RobotsFile {
  readonly rules: readonly PathRule[];
  /** At most 30 s; 0 where there is none. */
  readonly crawlDelayMs: number;
  /** Absolute URLs, as the file has them. */
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
 * @param content the beginning of the file; bytes are kept, because the encoding of the site's paths is unknown
 * @param token of the crawler, in lower case
 */
export function readRobotsFile(content: Buffer, token: string): RobotsFile {
  const lines = parseLines(content);
  const groups = parseGroups(lines);
  const named = groups.filter(({ agents }) => agents.has(token));
  const applicable = named.length > 0 ? named : groups.filter(({ agents }) => agents.has('*'));
  return {
    rules: applicable.flatMap(({ rules }) => rules),
    crawlDelayMs: Math.max(0, ...applicable.map(({ crawlDelayMs }) => crawlDelayMs)),
    sitemaps: sitemapsOf(lines),
  };
}

function parseLines(content: Buffer): readonly Line[] {
  return asBytes(content)
    .split(/\r\n|\r|\n/)
    .flatMap((line): Line[] => {
      const [text = ''] = line.split('#', 1);
      const colon = text.indexOf(':');
      return colon === -1 ? [] : [[text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()]];
    });
}

/** One character per byte, so that paths keep their bytes. */
function asBytes(content: Buffer): string {
  const utf16 = { fffe: 'utf-16le', feff: 'utf-16be' }[content.toString('hex', 0, 2)];
  if (utf16 !== undefined) return Buffer.from(new TextDecoder(utf16).decode(content)).toString('latin1');
  const bom = content.toString('hex', 0, 3) === 'efbbbf' ? 3 : 0;
  return content.toString('latin1', bom);
}

/** Only a rule ends the list of agents at a group's beginning. Other lines, such as `sitemap`, must not (RFC 9309, 2.2.4). */
function parseGroups(lines: readonly Line[]): readonly Group[] {
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

/** The token alone: versions and remarks often follow it. */
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

/** Rules with a value after a colon. A colon otherwise ends the name of an agent. */
const RULES_WITH_VALUES = ['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'];

/**
 * Whether an `X-Robots-Tag` header forbids this crawler to index the response. An agent's name applies to the rules that
 * follow it, up to the next name. Several headers arrive joined by commas and cannot be separated.
 */
export function forbidsIndexing(header: string | undefined): boolean {
  let applies = true;
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const name = part.slice(0, Math.max(colon, 0)).trim();
    const isAgent = colon !== -1 && !RULES_WITH_VALUES.includes(name);
    if (isAgent) applies = name === PRODUCT_TOKEN || name === '*';
    const rule = (isAgent ? part.slice(colon + 1) : part).trim();
    if (applies && (rule === 'noindex' || rule === 'none')) return true;
  }
  return false;
}
