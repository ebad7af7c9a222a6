import { fill, type Strings } from './strings.js';
import { visibleText } from './visible-text.js';

/** A longer name is not written in words. */
const MAX_NAME = 80;

/** One row of a table of arguments. */
export interface ArgumentRow {
  /** Null for a value without a name. */
  readonly name: string | null;
  /** Null if the next rows, which are deeper, have the value. */
  readonly value: string | null;
  /** 0 for the outermost rows. */
  readonly depth: number;
}

type Texts = Pick<Strings, 'yes' | 'no' | 'empty' | 'entry'>;
type Entries = Iterator<readonly [string | null, unknown]>;

/** The arguments of a tool, or any JSON value, as the rows of a table. Nothing is left out, and nothing in their texts hides. */
export function* argumentRows(value: unknown, strings: Texts): Generator<ArgumentRow, void, undefined> {
  // A hostile value may be too deep for a recursion.
  const open: Entries[] = [entriesOf(value, strings)];
  for (let entries = open.at(-1); entries; entries = open.at(-1)) {
    const next = entries.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const [name, inner] = next.value;
    const text = textOf(inner, strings);
    yield { name, value: text === null ? null : visibleText(text), depth: open.length - 1 };
    if (text === null) open.push(entriesOf(inner, strings));
  }
}

function* entriesOf(value: unknown, strings: Texts): Generator<readonly [string | null, unknown], void, undefined> {
  if (textOf(value, strings) !== null) yield [null, value];
  else if (Array.isArray(value))
    for (const [index, entry] of value.entries()) yield [fill(strings.entry, { number: String(index + 1) }), entry];
  else for (const [name, inner] of Object.entries(value as object)) yield [inWords(name), inner];
}

/** Null for a value that needs rows of its own. */
function textOf(value: unknown, strings: Texts): string | null {
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (typeof value === 'boolean') return value ? strings.yes : strings.no;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return strings.empty;
  if (!Array.isArray(value)) return null;
  const isFlat = value.every((entry) => typeof entry !== 'object' || entry === null);
  return isFlat ? value.map((entry) => textOf(entry, strings)).join(', ') : null;
}

/** The name of an argument in words: `customerId` and `customer_id` are "Customer id". */
export function inWords(name: string): string {
  if (name.length > MAX_NAME) return visibleText(name);
  const words = name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .split(/[\s_.-]+/)
    .filter((word) => word !== '')
    // An abbreviation stays as it is.
    .map((word) => (/^\p{Lu}{2,}\d*$/u.test(word) ? word : word.toLowerCase()))
    .join(' ');
  return visibleText(words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1));
}
