import { randomInt } from 'node:crypto';
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

/** Of a field's name in a message. */
const SHOWN_NAME = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const UNDERSCORE = 0x5f;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const PROTO = '__proto__';
/** The longest spelling of a character. */
const ESCAPED_BYTES = 6;

/** Combinations are told apart by so many bits of a hash: 32 KiB a body, and few enough are taken for another to be counted right. */
const SHAPE_BITS = 18;
/** Unknown outside of this process, so that nobody can choose names that are counted as one. */
const NAME_FACTOR = randomInt(1 << 29, 1 << 30) * 2 + 1;

/** After so many ordinary bytes of a string the rest is searched, which is faster than to look at each. */
const PLAIN_BYTES = 64;

/** Bytes that are looked at before others have their turn; a string is never left in the middle. */
const SLICE_BYTES = 1024 * 1024;

/**
 * Refuses a JSON text by what it would take to build and by what could not be stored, before anything is built
 * from it: one pass over its bytes, whatever its shape. Whether it is JSON at all is the parser's matter; for a text
 * that is not, what this finds is as true as what the parser would.
 * @param bytes valid UTF-8
 * @throws ValidationFailed naming the field
 */
export function checkJsonLimits(bytes: Buffer): void {
  new JsonScan(bytes).readTo(bytes.length);
}

/** As `checkJsonLimits`, in steps of a few milliseconds, with `nextTask` awaited between two of them. */
export async function checkLargeJsonLimits(bytes: Buffer, nextTask: () => Promise<unknown>): Promise<void> {
  const scan = new JsonScan(bytes);
  for (let end = SLICE_BYTES; end < bytes.length; end += SLICE_BYTES) {
    scan.readTo(end);
    await nextTask();
  }
  scan.readTo(bytes.length);
}

class JsonScan {
  private at = 0;
  private depth = 0;
  private values = 0;
  private shapes = 0;
  /** The next string is a field's name. */
  private nameExpected = false;
  /** By depth: whether it is an object, the position in an array, where an object's newest name begins and ends. */
  private readonly isObject = new Uint8Array(MAX_JSON_DEPTH + 1);
  private readonly position = new Uint32Array(MAX_JSON_DEPTH + 1);
  private readonly nameStart = new Uint32Array(MAX_JSON_DEPTH + 1);
  private readonly nameEnd = new Uint32Array(MAX_JSON_DEPTH + 1);
  /** By depth: a hash of the names that an object has so far. */
  private readonly shape = new Int32Array(MAX_JSON_DEPTH + 1);
  private seenShapes: Uint8Array | undefined;
  private quoteAhead = -1;

  constructor(private readonly bytes: Buffer) {}

  /** Reads on, up to `end` and to the end of the string that is there. */
  readTo(end: number): void {
    const { bytes } = this;
    let { at } = this;
    while (at < end) {
      this.at = at;
      switch (bytes[at] ?? 0) {
        case 0x20:
        case 0x0a:
        case 0x0d:
        case 0x09:
        case COLON:
          at += 1;
          continue;
        case QUOTE:
          this.readString();
          break;
        case OPEN_OBJECT:
          this.open(1);
          break;
        case OPEN_ARRAY:
          this.open(0);
          break;
        case CLOSE_OBJECT:
        case CLOSE_ARRAY:
          if (this.depth > 0) this.depth -= 1;
          this.nameExpected = false;
          break;
        case COMMA:
          if (this.isObject[this.depth] === 1) this.nameExpected = true;
          else this.position[this.depth] = (this.position[this.depth] ?? 0) + 1;
          break;
        default:
          this.countValue();
          this.skipLiteral();
      }
      at = this.at + 1;
    }
    this.at = at;
  }

  private open(isObject: 0 | 1): void {
    this.countValue();
    this.depth += 1;
    if (this.depth > MAX_JSON_DEPTH) {
      throw new ValidationFailed(`body must not be nested more than ${MAX_JSON_DEPTH} levels deep`);
    }
    this.isObject[this.depth] = isObject;
    this.position[this.depth] = 0;
    this.nameStart[this.depth] = this.nameEnd[this.depth] = 0;
    this.shape[this.depth] = 0;
    this.nameExpected = isObject === 1;
  }

  private countValue(): void {
    this.values += 1;
    if (this.values > MAX_JSON_VALUES) throw new ValidationFailed(`body must not have more than ${MAX_JSON_VALUES} values`);
  }

  /** Ends at the closing quote, or at the text's end. */
  private readString(): void {
    const start = this.at + 1;
    const isName = this.nameExpected;
    if (isName) this.nameExpected = false;
    else this.countValue();
    const unstorable = this.skipString();
    if (isName) this.readName(start, unstorable);
    else if (unstorable) throw new ValidationFailed(`${this.path()} must not contain U+0000 or lone surrogates`);
  }

  /** @returns whether it holds what PostgreSQL cannot store; valid UTF-8 can do so by escapes alone */
  private skipString(): boolean {
    const { bytes } = this;
    let unstorable = false;
    let plain = 0;
    let at = this.at + 1;
    for (let byte = bytes[at]; at < bytes.length && byte !== QUOTE; byte = bytes[at]) {
      if (byte !== BACKSLASH) {
        at += 1;
        plain += 1;
        if (plain % PLAIN_BYTES === 0) at = this.nextSpecial(at);
      } else if (bytes[at + 1] !== LOWER_U) at += 2;
      else {
        const unit = hexAt(bytes, at + 2);
        const paired = isHigh(unit) && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LOWER_U && isLow(hexAt(bytes, at + 8));
        if (!paired && (unit === 0 || isHigh(unit) || isLow(unit))) unstorable = true;
        at += paired ? 12 : 6;
      }
    }
    this.at = Math.min(at, bytes.length);
    return unstorable;
  }

  /** Where the next quote or backslash is. The quote is looked for once, or a text of escapes would be searched over and over. */
  private nextSpecial(at: number): number {
    if (this.quoteAhead < at) {
      const quote = this.bytes.indexOf(QUOTE, at);
      this.quoteAhead = quote < 0 ? this.bytes.length : quote;
    }
    const escape = this.bytes.subarray(at, this.quoteAhead).indexOf(BACKSLASH);
    return escape < 0 ? this.quoteAhead : at + escape;
  }

  private readName(start: number, unstorable: boolean): void {
    const end = this.at;
    if (unstorable) {
      throw new ValidationFailed(`${this.path(this.depth - 1)} has a field whose name holds U+0000 or a lone surrogate`);
    }
    this.nameStart[this.depth] = start;
    this.nameEnd[this.depth] = end;
    // Code that copies fields would make it the object's prototype.
    if (this.mayBeProto(start, end) && this.nameAt(start, end) === PROTO) throw new ValidationFailed(`${this.path()} is not allowed`);
    if (!this.isNewShape(start, end)) return;
    this.shapes += 1;
    if (this.shapes > MAX_JSON_SHAPES) {
      throw new ValidationFailed(`body must not have more than ${MAX_JSON_SHAPES} different combinations of field names`);
    }
  }

  /** Spares nearly all names the decoding. */
  private mayBeProto(start: number, end: number): boolean {
    const first = this.bytes[start];
    return (first === UNDERSCORE || first === BACKSLASH) && end - start <= PROTO.length * ESCAPED_BYTES;
  }

  /** Adds a name to the object's others. */
  private isNewShape(start: number, end: number): boolean {
    let hash = Math.imul((this.shape[this.depth] ?? 0) ^ (end - start + 1), NAME_FACTOR);
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (this.bytes[at] ?? 0), NAME_FACTOR);
    // Combinations that differ little must not end in neighbouring cells: the upper bits take from all of the others.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    this.shape[this.depth] = hash;
    const place = hash >>> (32 - SHAPE_BITS);
    this.seenShapes ??= new Uint8Array(1 << (SHAPE_BITS - 3));
    const cell = this.seenShapes[place >>> 3] ?? 0;
    const bit = 1 << (place & 7);
    this.seenShapes[place >>> 3] = cell | bit;
    return (cell & bit) === 0;
  }

  private skipLiteral(): void {
    const { bytes } = this;
    let at = this.at + 1;
    while (at < bytes.length && !endsLiteral(bytes[at] ?? 0)) at += 1;
    this.at = at - 1;
  }

  /** Such as `body/messages/0/content`. */
  private path(depth = this.depth): string {
    let path = 'body';
    for (let level = 1; level <= depth; level += 1) {
      path += `/${this.isObject[level] === 1 ? shown(this.nameAt(this.nameStart[level] ?? 0, this.nameEnd[level] ?? 0)) : String(this.position[level])}`;
    }
    return path;
  }

  private nameAt(start: number, end: number): string {
    const raw = this.bytes.toString('utf8', start, end);
    if (!raw.includes('\\')) return raw;
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch {
      return raw;
    }
  }
}

function endsLiteral(byte: number): boolean {
  // Everything up to the comma that JSON knows is white space or a quote.
  return byte <= 0x22 || byte === COMMA || byte === COLON || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || byte === OPEN_ARRAY || byte === OPEN_OBJECT;
}

/** @returns NaN where it is no number of four hexadecimal digits */
function hexAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at += 1) value = value * 16 + digit(bytes[at] ?? 0);
  return value;
}

function digit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function shown(name: string): string {
  return name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}...` : name;
}
