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
    if (lines.length > 1 && lines.every((line) => /^\s*[[{]/.test(line))) return lines.map((line) => JSON.parse(line) as Json);
    throw error;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;
const textOf = (value: Json | undefined): string => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** The columns of a list of records, where it is one: objects alone, without anything nested. */
function columnsOf(list: readonly Json[]): readonly string[] | undefined {
  if (list.length < 2) return undefined;
  const columns = new Set<string>();
  for (const item of list) {
    if (!isObject(item)) return undefined;
    for (const [key, value] of Object.entries(item)) {
      if (!isScalar(value)) return undefined;
      columns.add(key);
    }
    if (columns.size > MAX_COLUMNS) return undefined;
  }
  return [...columns];
}

/** Writes a document as `path: value`, with lists of records as tables and the members of the outermost object as sections. */
class JsonBlocks {
  readonly blocks = new BlockList();
  private lines: string[] = [];

  add(value: Json): void {
    if (isObject(value)) for (const [key, member] of Object.entries(value)) this.addMember(key, member);
    else this.addValue('', value);
    this.flush();
  }

  private addMember(key: string, member: Json): void {
    if (!isScalar(member)) {
      this.flush();
      this.blocks.heading(2, key);
    }
    this.addValue(key, member);
    if (!isScalar(member)) this.flush();
  }

  /** Without recursion, however deep it is. */
  private addValue(path: string, value: Json): void {
    const waiting: [path: string, value: Json, depth: number][] = [[path, value, 0]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [at, current, depth] = next;
      const columns = Array.isArray(current) ? columnsOf(current as readonly Json[]) : undefined;
      if (columns) this.addRecords(at, columns, current as readonly JsonObject[]);
      else if (isScalar(current)) this.addLine(at, textOf(current));
      else waiting.push(...members(at, current as JsonObject | readonly Json[], depth));
    }
  }

  private addRecords(path: string, columns: readonly string[], records: readonly JsonObject[]): void {
    if (path !== '') this.lines.push(`${path}:`);
    this.flush();
    this.blocks.table([columns, ...records.map((record) => columns.map((column) => textOf(record[column])))]);
  }

  private addLine(path: string, text: string): void {
    this.lines.push(path === '' ? text : `${path}: ${text}`);
    if (this.lines.length >= LINES_AT_ONCE) this.flush();
  }

  private flush(): void {
    this.blocks.text(this.lines.join('\n'));
    this.lines = [];
  }
}

/** The last one first, as a stack wants them. */
function members(path: string, value: JsonObject | readonly Json[], depth: number): [string, Json, number][] {
  const isList = Array.isArray(value);
  const entries = Object.entries(value as JsonObject).reverse();
  // Deeper down, paths no longer tell where one is, and together they would be longer than the document.
  return entries.map(([key, member]) => [depth >= MAX_JSON_DEPTH ? path : isList ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, member, depth + 1]);
}

export const readJson: FormatReader = async ({ content, contentType }) => {
  const text = decode(content, contentType, false);
  BlockList.checkHeld(text.length);
  let value: Json;
  try {
    value = parsed(text);
  } catch (error) {
    throw new UnreadableDocument('broken', `The file is not valid JSON: ${(error as Error).message.slice(0, 200)}.`, { cause: error });
  }
  const json = new JsonBlocks();
  json.add(value);
  const title = isObject(value) ? (value['title'] ?? value['name']) : null;
  return { title: typeof title === 'string' ? title : null, language: null, blocks: json.blocks.blocks };
};
