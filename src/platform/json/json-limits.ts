import { isStorable } from '../database/index.js';
import { ValidationFailed } from '../errors/index.js';

/** Deeper JSON than any field of the interface needs; recursive code after this never overflows its stack. */
export const MAX_JSON_DEPTH = 64;
/** Objects, arrays, strings, numbers, booleans and nulls of one body. More of them cost more to build than their bytes tell. */
export const MAX_JSON_VALUES = 200_000;
/**
 * Different combinations of field names that the objects of one body begin with: `{a, b}` has two, and so have a thousand
 * like it together. The engine keeps each name and each combination once for the whole process, which costs it ten
 * times what a value does: 200,000 of them would hold up every other request for half a second.
 */
export const MAX_JSON_SHAPES = 10_000;

/** How much a text may hold; by default as much as a body. */
export interface JsonLimits {
  /** What the text is, for messages. */
  readonly place?: string;
  readonly maxValues?: number;
  readonly maxShapes?: number;
}

/** Of a field's name in a message. */
const SHOWN_NAME = 100;
/** Characters that are looked at before others have their turn; a string is never left in the middle. */
const SLICE_LENGTH = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** Numbers and words, and whatever else is no JSON. */
const LITERAL = /[^\s",:[\]{}]+/y;

/** A combination of names: the ones that it becomes with another name, by that. */
class Shape extends Map<string, Shape> {}

/** An object or array that is open at the present place. */
interface Level {
  readonly isObject: boolean;
  /** Of the names that an object has so far. */
  shape: Shape;
  /** The newest field of an object. */
  name: string;
  /** The position in an array. */
  position: number;
}

/**
 * Refuses a JSON text by what it would take to build and by what could not be stored, before anything is built
 * from it: one pass over its characters, whatever its shape. Whether it is JSON at all is the parser's matter; for a
 * text that is not, what this finds is as true as what the parser would.
 * @throws ValidationFailed naming the field
 */
export function checkJsonLimits(text: string, limits: JsonLimits = {}): void {
  new JsonScan(text, limits).readTo(text.length);
}

/** As `checkJsonLimits`, in steps of a few milliseconds, with `nextTask` awaited between two of them. */
export async function checkLargeJsonLimits(text: string, nextTask: () => Promise<unknown>): Promise<void> {
  const scan = new JsonScan(text, {});
  for (let end = SLICE_LENGTH; end < text.length; end += SLICE_LENGTH) {
    scan.readTo(end);
    await nextTask();
  }
  scan.readTo(text.length);
}

class JsonScan {
  private at = 0;
  private values = 0;
  private shapes = 0;
  /** The next string is a field's name. */
  private nameExpected = false;
  private readonly levels: Level[] = [];
  private readonly noNames = new Shape();

  private readonly place: string;
  private readonly maxValues: number;
  private readonly maxShapes: number;

  constructor(
    private readonly text: string,
    { place = 'body', maxValues = MAX_JSON_VALUES, maxShapes = MAX_JSON_SHAPES }: JsonLimits,
  ) {
    this.place = place;
    this.maxValues = maxValues;
    this.maxShapes = maxShapes;
  }

  /** Reads on, up to `end` and to the end of the string or word that is there. */
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
      throw new ValidationFailed(`${this.place} must not be nested more than ${MAX_JSON_DEPTH} levels deep`);
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
    if (this.values > this.maxValues)
      throw new ValidationFailed(`${this.place} must not have more than ${this.maxValues} values`);
  }

  /** @returns false where there is none, but something that is no JSON */
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
      // What was sent is valid UTF-8, which holds neither but by its code.
      if (isCoded && !isStorable(decoded(text.slice(start, end), true))) {
        throw new ValidationFailed(`${this.path()} must not contain U+0000 or lone surrogates`);
      }
    }
  }

  private readName(level: Level, name: string): void {
    this.nameExpected = false;
    if (!isStorable(name)) {
      throw new ValidationFailed(`${this.path(-1)} has a field whose name holds U+0000 or a lone surrogate`);
    }
    level.name = name;
    // Code that copies fields would make it the object's prototype.
    if (name === '__proto__') throw new ValidationFailed(`${this.path()} is not allowed`);
    let shape = level.shape.get(name);
    if (!shape) {
      shape = new Shape();
      level.shape.set(name, shape);
      this.shapes += 1;
    }
    level.shape = shape;
    if (this.shapes > this.maxShapes) {
      throw new ValidationFailed(
        `${this.place} must not have more than ${this.maxShapes} different combinations of field names`,
      );
    }
  }

  /** Such as `body/messages/0/content`. */
  private path(end?: number): string {
    const places = this.levels.slice(0, end).map(({ isObject, name, position }) => (isObject ? shown(name) : position));
    return [this.place, ...places].join('/');
  }
}

/** A field's name, cut to what a message can hold. */
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
