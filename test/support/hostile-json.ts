type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** JSON of about `bytes` bytes that is cheap to send and expensive to read. */
export interface HostileShape {
  readonly name: string;
  /** Every body that contains it is refused. */
  readonly refused?: true;
  /** Larger sizes are refused as early as this one. */
  readonly enoughBytes?: number;
  /** So many bytes show in a field of a body what the field's rules cost; a body that is all this has as many as it may. */
  readonly enoughBytesInField?: number;
  readonly make: (bytes: number) => string;
}

/** The body of a request that contains hostile JSON. */
export interface HostileBody {
  readonly what: string;
  /** The hostile part is a field's value, not the whole body. */
  readonly inField: boolean;
  readonly around: (hostile: Buffer<ArrayBuffer>) => Buffer<ArrayBuffer>;
}

/** Just below the most values that a body may have; the rest of the body needs some. */
const ALLOWED_VALUES = 199_000;
const MIB = 1024 * 1024;
/** More than a body may have of values, levels and names takes; the rest would only be sent. */
const ENOUGH_BYTES = 2 * MIB;
/** Left for the rest of the body. */
export const ENVELOPE_BYTES = 20_000;

function list(item: string, bytes: number, most = Infinity): string {
  const count = Math.max(1, Math.min(Math.floor((bytes - 2) / (item.length + 1)), most));
  return `[${`${item},`.repeat(count - 1)}${item}]`;
}

function fields(count: number, bytes: number, name: (index: number) => string): string {
  const all: string[] = [];
  for (let index = 0, left = bytes - 2; index < count && left > 200; index += 1) {
    const field = `"${name(index)}":1`;
    all.push(field);
    left -= field.length + 1;
  }
  return `{${all.join(',')}}`;
}

function long(part: string, bytes: number): string {
  return `"${part.repeat(Math.floor((bytes - 2) / Buffer.byteLength(part)))}"`;
}

const MESSAGE = '{"role":"user","content":"x"}';

const REFUSED: readonly HostileShape[] = [
  { name: 'empty arrays', refused: true, enoughBytes: ENOUGH_BYTES, make: (bytes) => list('[]', bytes) },
  { name: 'empty objects', refused: true, enoughBytes: ENOUGH_BYTES, make: (bytes) => list('{}', bytes) },
  { name: 'numbers', refused: true, enoughBytes: ENOUGH_BYTES, make: (bytes) => list('1', bytes) },
  {
    name: '300,000 field names',
    refused: true,
    enoughBytes: ENOUGH_BYTES,
    make: (bytes) => fields(300_000, bytes, String),
  },
  {
    name: 'field names that are integers',
    refused: true,
    enoughBytes: ENOUGH_BYTES,
    make: (bytes) => fields(150_000, bytes, (index) => String(4_294_967_294 - index)),
  },
  {
    name: 'few field names in many combinations',
    refused: true,
    enoughBytes: ENOUGH_BYTES,
    make: (bytes) =>
      `[${Array.from({ length: Math.min(66_000, Math.floor(bytes / 26)) }, (_, index) => `{"k${index % 250}":1,"j${Math.floor(index / 250)}":2}`).join(',')}]`,
  },
  {
    name: '300,000 messages',
    refused: true,
    enoughBytes: 3 * ENOUGH_BYTES,
    make: (bytes) => list(MESSAGE, bytes, 300_000),
  },
  { name: '5,000,000 levels', refused: true, make: (bytes) => '['.repeat(Math.min(bytes, 5_000_000)) },
  {
    name: 'levels of objects',
    refused: true,
    enoughBytes: ENOUGH_BYTES,
    make: (bytes) => '{"a":'.repeat(Math.floor(bytes / 5)),
  },
  { name: 'commas', refused: true, make: (bytes) => `[${','.repeat(bytes - 2)}]` },
];

const ARRAYS: readonly HostileShape[] = [
  { name: 'allowed empty arrays', make: (bytes) => list('[]', bytes, ALLOWED_VALUES) },
  { name: 'allowed messages', make: (bytes) => list(MESSAGE, bytes, ALLOWED_VALUES / 3) },
];
const OBJECTS: readonly HostileShape[] = [
  {
    name: 'allowed field names',
    make: (bytes) => fields(9_500, bytes, (index) => `field-${index}-${'x'.repeat(100)}`),
  },
  { name: 'one field name over and over', make: (bytes) => fields(ALLOWED_VALUES, bytes, () => 'a') },
];
const STRINGS: readonly HostileShape[] = [
  { name: 'a long string of astral characters', enoughBytesInField: MIB, make: (bytes) => long('\u{1f600}', bytes) },
  { name: 'a long string of escapes', enoughBytesInField: MIB, make: (bytes) => long('\\n', bytes) },
];

/** Parsed completely before the route's schema is checked. */
const ALLOWED: readonly HostileShape[] = [
  ...ARRAYS,
  ...OBJECTS,
  ...STRINGS,
  { name: 'allowed empty objects', make: (bytes) => list('{}', bytes, ALLOWED_VALUES) },
  { name: 'allowed numbers', make: (bytes) => list('1', bytes, ALLOWED_VALUES) },
  { name: 'allowed levels', make: (bytes) => list(`${'['.repeat(50)}${']'.repeat(50)}`, bytes, ALLOWED_VALUES / 50) },
  { name: 'strings', make: (bytes) => list('"\\u00e9 some text\\n"', bytes, ALLOWED_VALUES) },
  { name: 'huge numbers', make: (bytes) => list('9'.repeat(40), bytes, ALLOWED_VALUES) },
  { name: 'one number', make: (bytes) => '9'.repeat(bytes) },
  { name: 'a long string', make: (bytes) => long('a', bytes) },
  { name: 'a long string of coded escapes', make: (bytes) => long('\\u00e9', bytes) },
  { name: 'white space', make: (bytes) => `[${' '.repeat(bytes - 2)}]` },
];

/** Sent as the body of every route and, where fields that are not known are ignored, as one of those. */
export const HOSTILE_SHAPES: readonly HostileShape[] = [...REFUSED, ...ALLOWED];

/**
 * Bodies that hold `shape`: it alone, and a valid body with it in each place that may take it.
 * @param ignoresUnknown fields of the body that the route does not know
 */
export function* bodiesWith(shape: HostileShape, valid: Json, ignoresUnknown: boolean): Generator<HostileBody> {
  yield bodyWith(valid, [], shape);
  if (shape.refused) return;
  if (ignoresUnknown) yield bodyWith(valid, ['unknown'], shape);
  for (const place of placesOf(valid).filter(({ length }) => length > 0)) {
    if (shapesFor(valueAt(valid, place)).includes(shape)) yield bodyWith(valid, place, shape);
  }
}

/** Each list of a valid body with as many of its own elements as a body may have. */
export function* longLists(valid: Json, bytes: number): Generator<{ what: string; text: Buffer<ArrayBuffer> }> {
  for (const place of placesOf(valid)) {
    const value = valueAt(valid, place);
    const [first] = Array.isArray(value) ? (value as readonly Json[]) : [];
    if (first === undefined) continue;
    const shape: HostileShape = {
      name: 'its own elements',
      make: (room) => list(JSON.stringify(first), room, Math.floor(ALLOWED_VALUES / valuesIn(first))),
    };
    const { what, around } = bodyWith(valid, place, shape);
    yield { what, text: around(Buffer.from(shape.make(bytes - ENVELOPE_BYTES))) };
  }
}

function shapesFor(value: Json): readonly HostileShape[] {
  if (Array.isArray(value)) return ARRAYS;
  if (typeof value === 'object' && value !== null) return OBJECTS;
  return typeof value === 'string' ? STRINGS : [];
}

function valuesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values<Json>(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1);
}

function placesOf(value: Json, place: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries<Json>(value).flatMap(([name, inner]) => placesOf(inner, [...place, name]))];
}

function valueAt(value: Json, place: readonly string[]): Json {
  return place.reduce<Json>((inner, name) => (inner as Readonly<Record<string, Json>>)[name] ?? null, value);
}

const PLACEHOLDER = '(the hostile part)';

function bodyWith(valid: Json, place: readonly string[], { name }: HostileShape): HostileBody {
  const [before = '', after = ''] = JSON.stringify(withPlaceholder(valid, place)).split(JSON.stringify(PLACEHOLDER));
  return {
    what: `${name} at /${place.join('/')}`,
    inField: place.length > 0,
    around: (hostile) => Buffer.concat([Buffer.from(before), hostile, Buffer.from(after)]),
  };
}

function withPlaceholder(value: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined) return PLACEHOLDER;
  const inner = withPlaceholder((value as Readonly<Record<string, Json>>)[name] ?? null, rest);
  if (Array.isArray(value)) return (value as readonly Json[]).with(Number(name), inner);
  return { ...(value as Readonly<Record<string, Json>>), [name]: inner };
}
