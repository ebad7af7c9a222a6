import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { decode } from '../detection/charset.js';
import { MAX_COLUMNS, MAX_JSON_DEPTH } from '../../limits.js';
import { BlockList } from './block-list.js';
import type { FormatReader } from './reading.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

/** Lines of one block. */
const LINES_AT_ONCE = 50;

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    if (lines.length > 1 && lines.every((line) => /^\s*[[{]/.test(line)))
      return lines.map((line) => JSON.parse(line) as Json);
    throw error;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
const scalarText = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The rows of a list of flat objects, below the names of their columns; undefined for anything else. */
function tableOf(list: Json): readonly (readonly string[])[] | undefined {
  if (!Array.isArray(list) || list.length < 2) return undefined;
  const columns = new Set<string>();
  for (const item of list as readonly Json[]) {
    if (!isObject(item) || !Object.values(item).every(isScalar)) return undefined;
    for (const key of Object.keys(item)) columns.add(key);
    if (columns.size > MAX_COLUMNS) return undefined;
  }
  return [
    [...columns],
    ...(list as readonly JsonObject[]).map((record) => [...columns].map((column) => scalarText(record[column]))),
  ];
}

/** A heading, a line or the rows of a table; null ends a block of lines. */
type Part = { readonly heading: string } | string | readonly (readonly string[])[] | null;

/** Each member of the outermost object is a section. */
function* sectionsOf(value: Json): Generator<Part> {
  if (!isObject(value)) yield* partsOf('', value);
  else {
    for (const [key, member] of Object.entries(value)) {
      if (!isScalar(member)) yield { heading: key };
      yield* partsOf(key, member);
      if (!isScalar(member)) yield null;
    }
  }
}

/** Lines of `path: value`, and tables of flat objects. Without recursion, since a document may be nested too deep for the stack. */
function* partsOf(path: string, value: Json): Generator<Part> {
  const waiting: [path: string, value: Json, depth: number][] = [[path, value, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [at, current, depth] = next;
    const table = tableOf(current);
    if (table && at !== '') yield `${at}:`;
    if (table) yield table;
    else if (isScalar(current)) yield at === '' ? scalarText(current) : `${at}: ${scalarText(current)}`;
    else waiting.push(...members(at, current as JsonObject | readonly Json[], depth));
  }
}

/** The last one first, because the caller takes them from the end. */
function members(path: string, value: JsonObject | readonly Json[], depth: number): [string, Json, number][] {
  const isList = Array.isArray(value);
  const entries = Object.entries(value as JsonObject).reverse();
  // All longer paths together could be larger than the document.
  return entries.map(([key, member]) => [
    depth >= MAX_JSON_DEPTH ? path : isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
    member,
    depth + 1,
  ]);
}

function blocksOf(value: Json): BlockList {
  const blocks = new BlockList();
  let lines: string[] = [];
  for (const part of sectionsOf(value)) {
    if (typeof part === 'string') lines.push(part);
    if (typeof part === 'string' && lines.length < LINES_AT_ONCE) continue;
    blocks.text(lines.join('\n'));
    lines = [];
    if (typeof part === 'string' || part === null) continue;
    if ('heading' in part) blocks.heading(2, part.heading);
    else blocks.table(part);
  }
  blocks.text(lines.join('\n'));
  return blocks;
}

export const readJson: FormatReader = async ({ content, contentType }) => {
  const text = decode(content, contentType, false);
  BlockList.checkHeld(text.length);
  let value: Json;
  try {
    value = parsed(text);
  } catch (error) {
    throw new UnreadableDocument('broken', `The file is not valid JSON: ${(error as Error).message.slice(0, 200)}.`, {
      cause: error,
    });
  }
  const title = isObject(value) ? (value['title'] ?? value['name']) : null;
  return { title: typeof title === 'string' ? title : null, language: null, blocks: blocksOf(value).blocks };
};
