import { z } from 'zod';

/** The type of the values that a schema reads. */
export type Stored<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined
    ? Value
    : { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> };

/**
 * An object that the service may read and write back. It keeps the fields that the shape does not name, since a later release
 * that runs beside this one may have written them. `z.object` drops them, which is right for objects that are not written back.
 */
export function storedObject<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodObject<Shape> {
  // The type has no further fields, so that the compiler finds misspelt ones.
  return z.looseObject(shape);
}

/** A value that a customer, a model or a tool sent: the service passes it on unchanged, and accepts any content. */
export function sent<Value>(): z.ZodType<Value> {
  return z.unknown() as unknown as z.ZodType<Value>;
}

/** A name from a list that another module owns; names that a later release has added are accepted. */
export function named<Name extends string>(): z.ZodType<Name> {
  return z.string() as unknown as z.ZodType<Name>;
}

/** The part of a value that its schema names, for answers, which must not show further fields. */
export function namedBy<Schema extends z.ZodType>(schema: Schema, value: Stored<Schema>): Stored<Schema> {
  return withoutUnnamed(schema as unknown as z.core.$ZodTypes, value) as Stored<Schema>;
}

/** Covers wrappers, arrays, unions and objects. Values of other schemas, such as records, are returned whole. */
function withoutUnnamed({ _zod: { def } }: z.core.$ZodTypes, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('innerType' in def) return withoutUnnamed(def.innerType as z.core.$ZodTypes, value);
  if (def.type === 'array' && Array.isArray(value))
    return value.map((item) => withoutUnnamed(def.element as z.core.$ZodTypes, item));
  if (def.type === 'union') {
    const option = def.options.find((each) => z.safeParse(each, value).success);
    return option ? withoutUnnamed(option as z.core.$ZodTypes, value) : value;
  }
  if (def.type !== 'object') return value;
  const read = value as Readonly<Record<string, unknown>>;
  const fields = Object.entries(def.shape).filter(([name]) => name in read);
  return Object.fromEntries(
    fields.map(([name, field]) => [name, withoutUnnamed(field as z.core.$ZodTypes, read[name])]),
  );
}

/** A stored value does not fit its schema. The message names the place and never the content. */
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

/** The place and what was expected. The messages of the schemas in use do not quote values. */
function problemOf({ issues: [first] }: z.ZodError): string {
  return `/${(first?.path ?? []).map(String).join('/')}: ${first?.message ?? 'unknown'}`;
}
