import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { decode } from '../detection/charset.js';
import { MAX_COLUMNS, MAX_JSON_DEPTH } from '../../limits.js';
import { BlockList } from './block-list.js';
import type { FormatReader } from './reading.js';

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = Readonly<Record<string, Json>>;

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

/** Each member of the outermost object is a section of lines `path: value` and of tables of flat objects. */
function blocksOf(value: Json): BlockList {
  const blocks = new BlockList();
  let lines: string[] = [];
  const endLines = (): void => {
    blocks.text(lines.join('\n'));
    lines = [];
  };
  /** Without recursion, since a document may be nested too deep for the stack. */
  const add = (path: string, member: Json): void => {
    const waiting: [path: string, value: Json, depth: number][] = [[path, member, 0]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [at, current, depth] = next;
      const table = tableOf(current);
      if (table) {
        if (at !== '') lines.push(`${at}:`);
        endLines();
        blocks.table(table);
      } else if (isScalar(current)) {
        lines.push(at === '' ? scalarText(current) : `${at}: ${scalarText(current)}`);
        if (lines.length >= LINES_AT_ONCE) endLines();
      } else for (const inner of members(at, current as JsonObject | readonly Json[], depth)) waiting.push(inner);
    }
  };
  if (!isObject(value)) add('', value);
  else {
    for (const [key, member] of Object.entries(value)) {
      if (!isScalar(member)) {
        endLines();
        blocks.heading(2, key);
      }
      add(key, member);
      if (!isScalar(member)) endLines();
    }
  }
  endLines();
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
