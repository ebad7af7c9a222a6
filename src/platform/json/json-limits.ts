import { isStorable } from '../database/index.js';
import { ValidationFailed } from '../errors/index.js';

/** More levels than any field of the interface needs, and few enough that recursive code never overflows the stack. */
export const MAX_JSON_DEPTH = 64;
/** Objects, arrays, strings, numbers, booleans and nulls of one body, whose cost is not proportional to their bytes. */
export const MAX_JSON_VALUES = 200_000;
/**
 * Different combinations of field names at the start of the objects of one body: `{a, b}` has two, and so do a thousand equal objects
 * together. V8 keeps each name and combination once for the process, at ten times the cost of a value: 200,000 of them would block
 * every other request for half a second.
 */
export const MAX_JSON_SHAPES = 10_000;

/** The limits of a text; by default those of a body. */
interface JsonLimits {
  /** The name of the text in messages. */
  readonly place?: string;
  readonly maxValues?: number;
  readonly maxShapes?: number;
}

/** The most characters of a field's name in a message. */
const SHOWN_NAME = 100;
/** Characters that are scanned before other tasks run; the scan never stops inside a string. */
const SLICE_LENGTH = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** Numbers, words, and characters that are no JSON. */
const LITERAL = /[^\s",:[\]{}]+/y;

/** A combination of names, with the combinations that add one more name, by that name. */
class Shape extends Map<string, Shape> {}

/** An object or array that is open at the current position. */
interface Level {
  readonly isObject: boolean;
  /** The names of an object so far. */
  shape: Shape;
  /** The latest field of an object. */
  name: string;
  /** The position in an array. */
  position: number;
}

/**
 * Refuses JSON text that would be expensive to parse, or contains values that cannot be stored, in one pass over its characters. The
 * parser refuses text that is no JSON; for such a text, an error of this function is right too.
 * @throws ValidationFailed naming the field
 */
export function checkJsonLimits(text: string, limits: JsonLimits = {}): void {
  new JsonScan(text, limits).readTo(text.length);
}

/** As `checkJsonLimits`, in steps of a few milliseconds, and awaits `nextTask` between them. */
export async function checkLargeJsonLimits(text: string, nextTask: () => Promise<unknown>): Promise<void> {
  const scan = new JsonScan(text, {});
  for (let end = SLICE_LENGTH; end < text.length; end += SLICE_LENGTH) {
    scan.readTo(end);
    await nextTask();
  }
  scan.readTo(text.length);
}

/**
 * Counts several texts that one body quotes, such as the arguments of calls, against the limits of that body. Other than bodies they
 * may contain any characters: models write them.
 */
export class QuotedJsonLimits {
  private last: JsonScan | undefined;

  /** @throws ValidationFailed for the text with which the limits are passed */
  check(text: string, place: string): void {
    this.last = new JsonScan(text, { place }, { after: this.last });
    this.last.readTo(text.length);
  }
}

/** Of a text that a body quotes. */
interface Quoted {
  /** The text before, whose values count too. */
  readonly after: JsonScan | undefined;
}

class JsonScan {
  private at = 0;
  private values: number;
  private shapes: number;
  /** The next string is a field's name. */
  private nameExpected = false;
  private readonly levels: Level[] = [];
  private readonly noNames: Shape;
  private readonly isQuoted: boolean;
  private readonly limits: Required<JsonLimits>;

  constructor(
    private readonly text: string,
    limits: JsonLimits,
    quoted?: Quoted,
  ) {
    this.limits = { place: 'body', maxValues: MAX_JSON_VALUES, maxShapes: MAX_JSON_SHAPES, ...limits };
    this.isQuoted = quoted !== undefined;
    this.values = quoted?.after?.values ?? 0;
    this.shapes = quoted?.after?.shapes ?? 0;
    this.noNames = quoted?.after?.noNames ?? new Shape();
  }

  /** Scans up to `end`, and to the end of the string or word there. */
  readTo(end: number): void {
    while (this.at < end) {
      switch (this.text.charAt(this.at)) {
        case '"':
          this.readString();
          continue;
        case '{':
        case '[':
          this.open(this.text.charAt(this.at) === '{');
          break;
        case '}':
        case ']':
          this.levels.pop();
          this.nameExpected = false;
          break;
        case ',':
          this.nextItem();
          break;
        case ' ':
        case '\n':
        case '\r':
        case '\t':
        case ':':
          break;
        default:
          if (this.skipLiteral()) continue;
      }
      this.at += 1;
    }
  }

  private open(isObject: boolean): void {
    this.countValue();
    if (this.levels.length === MAX_JSON_DEPTH) {
      throw new ValidationFailed(`${this.limits.place} must not be nested more than ${MAX_JSON_DEPTH} levels deep`);
    }
    this.levels.push({ isObject, shape: this.noNames, name: '', position: 0 });
    this.nameExpected = isObject;
  }

  private nextItem(): void {
    const level = this.levels.at(-1);
    if (level?.isObject) this.nameExpected = true;
    else if (level) level.position += 1;
  }

  private countValue(): void {
    this.values += 1;
    if (this.values > this.limits.maxValues)
      throw new ValidationFailed(`${this.limits.place} must not have more than ${this.limits.maxValues} values`);
  }

  /** @returns false for characters that are no JSON */
  private skipLiteral(): boolean {
    LITERAL.lastIndex = this.at;
    if (!LITERAL.test(this.text)) return false;
    this.at = LITERAL.lastIndex;
    this.countValue();
    return true;
  }

  private readString(): void {
    const { text } = this;
    const start = this.at + 1;
    let end = start;
    let isEscaped = false;
    let isCoded = false;
    for (let code = text.charCodeAt(end); end < text.length && code !== QUOTE; code = text.charCodeAt(end)) {
      if (code === BACKSLASH) {
        isEscaped = true;
        end += 1;
        if (text.charCodeAt(end) === LOWER_U) isCoded = true;
      }
      end += 1;
    }
    this.at = end + 1;
    const level = this.levels.at(-1);
    if (this.nameExpected && level) this.readName(level, decoded(text.slice(start, end), isEscaped));
    else {
      this.countValue();
      // The body is valid UTF-8, which contains such characters only as escapes.
      if (isCoded && !this.isQuoted && !isStorable(decoded(text.slice(start, end), true))) {
        throw new ValidationFailed(`${this.path()} must not contain U+0000 or lone surrogates`);
      }
    }
  }

  private readName(level: Level, name: string): void {
    this.nameExpected = false;
    if (!this.isQuoted && !isStorable(name)) {
      throw new ValidationFailed(`${this.path(-1)} has a field whose name holds U+0000 or a lone surrogate`);
    }
    level.name = name;
    // Code that copies fields would set the object's prototype.
    if (name === '__proto__' && !this.isQuoted) throw new ValidationFailed(`${this.path()} is not allowed`);
    let shape = level.shape.get(name);
    if (!shape) {
      shape = new Shape();
      level.shape.set(name, shape);
      this.shapes += 1;
    }
    level.shape = shape;
    if (this.shapes > this.limits.maxShapes) {
      throw new ValidationFailed(
        `${this.limits.place} must not have more than ${this.limits.maxShapes} different combinations of field names`,
      );
    }
  }

  /** Such as `body/messages/0/content`. */
  private path(end?: number): string {
    const places = this.levels.slice(0, end).map(({ isObject, name, position }) => (isObject ? shown(name) : position));
    return [this.limits.place, ...places].join('/');
  }
}

/** A field's name, cut to the length for messages. */
export function shown(name: string): string {
  return name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}...` : name;
}

function decoded(raw: string, isEscaped: boolean): string {
  if (!isEscaped) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}
