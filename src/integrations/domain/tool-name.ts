import { createHash } from 'node:crypto';

/** What providers take. */
const MAX_NAME = 64;
const HASH_DIGITS = 8;

/** A tool of one integration, to be named. */
export interface ServerTool {
  readonly integrationId: string;
  /** The integration's `app` or `nameSlug`. */
  readonly identity: string;
  /** The server's own name. */
  readonly tool: string;
}

/**
 * The names under which the model sees these tools, in their order: `mcp__<slug>__<tool>`, shortened with a hash where
 * that is longer than providers take. Where two would have one name, each gets a hash of its own, so that a name never
 * comes to mean another tool when one of them goes.
 */
export function modelNames(tools: readonly ServerTool[]): string[] {
  const plain = tools.map(plainName);
  const uses = new Map<string, number>();
  for (const name of plain) uses.set(name, (uses.get(name) ?? 0) + 1);
  return tools.map(({ integrationId, tool }, index) => {
    const name = plain[index] ?? '';
    return uses.get(name) === 1 ? name : withHash(name, `${integrationId}/${tool}`);
  });
}

/** Lower-case letters, digits, `_` and `-`; a label without any of them is told apart by its hash. */
export function slugOf(identity: string): string {
  const slug = identity
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return slug === '' ? `app-${hashOf(identity)}` : slug;
}

function plainName({ identity, tool }: ServerTool): string {
  const name = `mcp__${slugOf(identity)}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  return name.length > MAX_NAME ? withHash(name, `${identity}/${tool}`) : name;
}

function withHash(name: string, source: string): string {
  return `${name.slice(0, MAX_NAME - HASH_DIGITS - 1)}_${hashOf(source)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
}
