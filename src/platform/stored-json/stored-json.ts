import { z } from 'zod';

/** The type of what a schema reads. */
export type Stored<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> };

/**
 * An object of which this version may write back what it has read. It keeps the fields that the shape does not name: a later
 * version that runs beside this one may have written them. `z.object` drops them, which is right where nothing is written back.
 */
export function storedObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodObject<Shape> {
  // The type without further fields, so that the compiler knows a misspelt field from one that there is.
  return z.looseObject(shape);
}

/** What a customer, a model or a tool sent: it is passed on as it is, and nothing of it makes the rest unreadable. */
export function sent<Value>(): z.ZodType<Value> {
  return z.unknown() as unknown as z.ZodType<Value>;
}

/** A name out of a list that another module owns and adds to. */
export function named<Name extends string>(): z.ZodType<Name> {
  return z.string() as unknown as z.ZodType<Name>;
}

/** What a schema names of a value that it has read: what answers may show of it. */
export function namedBy<Schema extends z.ZodType>(schema: Schema, value: Stored<Schema>): Stored<Schema> {
  return withoutUnnamed(schema as unknown as z.core.$ZodTypes, value) as Stored<Schema>;
}

/** Of the kinds of schema, those that objects with further fields can be below. */
function withoutUnnamed({ _zod: { def } }: z.core.$ZodTypes, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('innerType' in def) return withoutUnnamed(def.innerType as z.core.$ZodTypes, value);
  if (def.type === 'array' && Array.isArray(value)) return value.map((item) => withoutUnnamed(def.element as z.core.$ZodTypes, item));
  if (def.type === 'union') {
    const option = def.options.find((each) => z.safeParse(each, value).success);
    return option ? withoutUnnamed(option as z.core.$ZodTypes, value) : value;
  }
  if (def.type !== 'object') return value;
  const read = value as Readonly<Record<string, unknown>>;
  const fields = Object.entries(def.shape).filter(([name]) => name in read);
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutUnnamed(field as z.core.$ZodTypes, read[name])]));
}

/** What the database holds does not fit the schema that reads it. The message names the place and never the content. */
export class UnreadableJson extends Error {
  /**
   * @param column as `table.column`
   * @param row its primary key; undefined where the caller does not know it
   */
  constructor(
    readonly column: string,
    readonly problem: string,
    readonly row?: string,
  ) {
    super(`The stored JSON ${column}${row === undefined ? '' : ` of ${row}`} cannot be read: ${problem}`);
    this.name = new.target.name;
  }
}

/** @throws UnreadableJson */
export function readStored<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { column, row }: { readonly column: string; readonly row?: string | undefined },
): Stored<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data as Stored<Schema>;
  throw new UnreadableJson(column, problemOf(read.error), row);
}

/** Where it is and what was expected: the messages of the schemas in use quote no value. */
function problemOf({ issues: [first] }: z.ZodError): string {
  return `/${(first?.path ?? []).map(String).join('/')}: ${first?.message ?? 'unknown'}`;
}
