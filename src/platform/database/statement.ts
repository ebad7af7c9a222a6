import type { SqlExecutor } from './database.js';
import { storableJson } from './storable.js';

interface ParameterValues {
  uuid: string;
  text: string;
  boolean: boolean;
  integer: number;
  bigint: number;
  'double precision': number;
  timestamptz: Date;
  /** Any value that JSON can represent; null is SQL's null. */
  jsonb: unknown;
  bytea: Uint8Array;
  'bytea[]': readonly Uint8Array[];
  'uuid[]': readonly string[];
  /** As ISO 8601. */
  'timestamptz[]': readonly string[];
  'text[]': readonly (string | null)[];
}

export type ParameterTypes = Readonly<Record<string, keyof ParameterValues>>;
export type ParameterReferences<Types extends ParameterTypes> = { readonly [Name in keyof Types]: string };
export type ParametersOf<Types extends ParameterTypes> = {
  readonly [Name in keyof Types]: ParameterValues[Types[Name]] | null;
};

/** A hand-written statement with named parameters. Its text is constant, so the database prepares it once. */
export interface Statement<Types extends ParameterTypes> {
  readonly sql: string;
  run<Row extends object>(executor: SqlExecutor, parameters: ParametersOf<Types>): Promise<Row[]>;
}

/**
 * @param types of the parameters; each must occur in the text, otherwise the database cannot determine its type
 * @param write returns the text; every reference includes its type (`$1::uuid`)
 */
export function statement<const Types extends ParameterTypes>(
  types: Types,
  write: (parameters: ParameterReferences<Types>) => string,
): Statement<Types> {
  const declared = Object.entries(types);
  const references = Object.fromEntries(declared.map(([name, type], index) => [name, `$${index + 1}::${type}`]));
  const sql = write(references as ParameterReferences<Types>);
  return {
    sql,
    run: (executor, parameters) =>
      executor.query(
        sql,
        declared.map(([name, type]) => toParameter(type, parameters[name])),
      ),
  };
}

function toParameter(type: keyof ParameterValues, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  return type === 'jsonb' ? storableJson(value) : value;
}
