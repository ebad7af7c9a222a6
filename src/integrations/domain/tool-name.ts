import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';

/** The longest name that all providers accept. */
const MAX_NAME = 64;
const HASH_DIGITS = 8;

/**
 * How many names an attachment keeps, including those of tools that are not offered: twice as many as a server may list. Beyond
 * that the oldest of the tools that are not offered lose theirs, so that a server that keeps adding tools does not fill the database.
 */
const MAX_KEPT_NAMES = 1_000;

/** A tool of one integration, to be named. */
export interface ServerTool {
  readonly integrationId: string;
  /** The integration's `app` or `nameSlug`. */
  readonly identity: string;
  /** As the server names it. */
  readonly tool: string;
}

/** The names that an agent's attachment of an integration keeps, by the server's names, oldest first. */
export const keptNames = z.array(z.tuple([z.string(), z.string()]));
export type KeptNames = Stored<typeof keptNames>;

/** By integration; null for an attachment that an earlier release made, which stored no names. */
export type NamesOfAgent = ReadonlyMap<string, KeptNames | null>;

export interface NamedTools {
  /** In the order of the tools. */
  readonly names: readonly string[];
  /** All names of the attachments that got new ones, by integration. */
  readonly changed: ReadonlyMap<string, KeptNames>;
}

/**
 * The names under which the model sees an agent's tools: `mcp__<slug>__<tool>`, shortened with a hash when that is longer
 * than providers accept. A tool keeps its name; a new tool gets a hash if another tool has, or had, its plain name. A guard
 * that matches a tool by its name therefore still matches it after other tools are added or removed.
 */
export function nameTools(kept: NamesOfAgent, tools: readonly ServerTool[]): NamedTools {
  const names = new Map(
    [...kept].flatMap(([id, pairs]) =>
      (pairs ?? []).map(([tool, name]) => [keyOf({ integrationId: id, tool }), name] as const),
    ),
  );
  const taken = new Set(names.values());
  const added = new Map<string, [string, string][]>();
  for (const [tool, wanted] of wantedNames(kept, tools)) {
    if (names.has(keyOf(tool))) continue;
    const name = freeName(wanted, tool, taken);
    names.set(keyOf(tool), name);
    taken.add(name);
    const pairs = added.get(tool.integrationId) ?? [];
    pairs.push([tool.tool, name]);
    added.set(tool.integrationId, pairs);
  }
  const offered = new Set(tools.map(keyOf));
  const changed = [...added].map(
    ([id, pairs]) => [id, withinLimit(id, [...(kept.get(id) ?? []), ...pairs], offered)] as const,
  );
  return { names: tools.map((tool) => names.get(keyOf(tool)) ?? ''), changed: new Map(changed) };
}

/** Tools of attachments without stored names come first, so that no other tool takes the names that earlier releases gave them. */
function wantedNames(kept: NamesOfAgent, tools: readonly ServerTool[]): (readonly [ServerTool, string])[] {
  const isFormer = ({ integrationId }: ServerTool): boolean => kept.get(integrationId) === null;
  const others = tools.filter((tool) => !isFormer(tool));
  return [...formerNames(tools.filter(isFormer)), ...others.map((tool) => [tool, plainName(tool)] as const)];
}

/** The names by the rule of earlier releases: when two tools would have the same name, both get a hash. */
function formerNames(tools: readonly ServerTool[]): (readonly [ServerTool, string])[] {
  const plain = tools.map((tool) => [tool, plainName(tool)] as const);
  const uses = new Map<string, number>();
  for (const [, name] of plain) uses.set(name, (uses.get(name) ?? 0) + 1);
  return plain.map(([tool, name]) => [tool, uses.get(name) === 1 ? name : withHash(name, keyOf(tool))]);
}

function freeName(wanted: string, tool: ServerTool, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let attempt = 0; taken.has(name); attempt += 1) {
    name = withHash(wanted, attempt === 0 ? keyOf(tool) : `${keyOf(tool)}/${attempt}`);
  }
  return name;
}

function withinLimit(id: string, names: KeptNames, offered: ReadonlySet<string>): KeptNames {
  let excess = names.length - MAX_KEPT_NAMES;
  return excess <= 0
    ? names
    : names.filter(([tool]) => offered.has(keyOf({ integrationId: id, tool })) || excess-- <= 0);
}

function keyOf({ integrationId, tool }: Pick<ServerTool, 'integrationId' | 'tool'>): string {
  return `${integrationId}/${tool}`;
}

/** Lower-case letters, digits, `_` and `-`; a label without any of them becomes a hash. */
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
