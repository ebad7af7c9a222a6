export interface SpoiledBody {
  readonly what: string;
  /** The body as it is sent. */
  readonly text: string;
  /** Refused by every schema, because no field of any route allows it. */
  readonly never?: true;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

const DEEP = 70;
const deep = JSON.parse('{"a":'.repeat(DEEP) + '1' + '}'.repeat(DEEP)) as Json;

/** Values that replace the value of a field; most are of another type. */
const VALUES: readonly Json[] = [
  ...[null, true, 7, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 1, '', 'x', [], {}, [[]], [null], { $ne: null }],
  'x'.repeat(200_001),
];
const NEVER: readonly (readonly [string, Json])[] = [
  ['U+0000', 'a\u0000b'],
  ['half a surrogate pair', '\ud800'],
  ['deep nesting', deep],
  ['an array with U+0000', ['\u0000']],
];

/** Bodies that are no JSON object, for every route. */
export const NO_OBJECTS: readonly SpoiledBody[] = [
  { what: 'malformed JSON', text: '{"a":', never: true },
  { what: 'two values', text: '{}{}', never: true },
  { what: 'text', text: 'hello', never: true },
  { what: 'an array', text: '[]', never: true },
  { what: 'null', text: 'null', never: true },
  { what: 'a string', text: '"x"', never: true },
  { what: 'a number', text: '7', never: true },
  { what: 'a number without end', text: `{"a":1${'0'.repeat(400)}}`, never: true },
  { what: 'very deep arrays', text: '['.repeat(100_000) + ']'.repeat(100_000), never: true },
  { what: 'very deep objects', text: '{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000), never: true },
];

/** A valid body with one error, for every place in it. */
export function spoiledBodies(valid: Json): SpoiledBody[] {
  const text = JSON.stringify(valid);
  return [
    { what: '__proto__', text: text.replace(/^\{/, '{"__proto__":{"admin":true},'), never: true },
    { what: 'constructor', text: text.replace(/^\{/, '{"constructor":{"prototype":{"admin":true}},') },
    ...placesOf(valid).flatMap((place) => spoiledAt(valid, place)),
  ];
}

function spoiledAt(valid: Json, place: readonly string[]): SpoiledBody[] {
  const at = `/${place.join('/')}`;
  const replaced = (value: Json): string => JSON.stringify(withValue(valid, place, value));
  const old = valueAt(valid, place);
  return [
    ...(place.length === 0
      ? []
      : [
          ...VALUES.map((value) => ({ what: `${at} = ${JSON.stringify(value).slice(0, 30)}`, text: replaced(value) })),
          ...NEVER.map(([what, value]) => ({ what: `${at} = ${what}`, text: replaced(value), never: true as const })),
          { what: `without ${at}`, text: JSON.stringify(withValue(valid, place, undefined)) },
        ]),
    ...(isObject(old) ? [{ what: `an unknown field in ${at}`, text: replaced({ ...old, nonsense: 1 }) }] : []),
  ];
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function placesOf(value: Json, place: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries<Json>(value).flatMap(([name, inner]) => placesOf(inner, [...place, name]))];
}

function valueAt(value: Json, place: readonly string[]): Json {
  return place.reduce<Json>((inner, name) => (inner as Readonly<Record<string, Json>>)[name] ?? null, value);
}

/** @param value undefined removes the field */
function withValue(whole: Json, [name, ...rest]: readonly string[], value: Json | undefined): Json {
  if (name === undefined) return value ?? null;
  const entries = Object.entries(whole as object).flatMap(([key, inner]): [string, Json][] => {
    if (key !== name) return [[key, inner as Json]];
    return rest.length === 0 && value === undefined ? [] : [[key, withValue(inner as Json, rest, value)]];
  });
  return Array.isArray(whole) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}
