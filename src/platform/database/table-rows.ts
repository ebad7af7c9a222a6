import type { EntityMetadata, EntitySchema, MikroORM } from '@mikro-orm/core';

/** A row for a mapped table (`ContextSchema.entities`), by the names of its properties. */
export interface TableRow {
  readonly entity: EntitySchema;
  readonly row: object;
  readonly fanOut?: FanOut;
}

/**
 * Stores a row once for each row of another table that matches it when the statement runs, and so not at all while none does.
 * SQL, in which `added` is the row and `matching` one of the other table.
 */
export interface FanOut<Decided extends string = string> {
  /** The other table. Its index on what `where` compares with the row is used for each row. */
  readonly from: string;
  readonly where: string;
  /** What the matching row decides, by the name of the property. */
  readonly values: Readonly<Record<Decided, string>>;
}

/** The row has every property of the mapping; the database computes only generated columns. */
export function tableRow<Entity extends object>(
  entity: EntitySchema<Entity>,
  row: { readonly [Property in keyof Entity & string]: Entity[Property] },
): TableRow {
  return { entity: entity as EntitySchema, row };
}

/** As `tableRow`. The row lacks the properties that `fanOut` decides. */
export function fanOutRow<Entity extends object, Decided extends keyof Entity & string>(
  entity: EntitySchema<Entity>,
  row: { readonly [Property in Exclude<keyof Entity & string, Decided>]: Entity[Property] },
  fanOut: FanOut<Decided>,
): TableRow {
  return { entity: entity as EntitySchema, row, fanOut };
}

/** Rows of one table for a statement, which has all of them in one parameter. */
export interface TableRows {
  readonly table: string;
  /** The columns of a mapped row, and so of the parameter's JSON. */
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly fanOut?: Pick<FanOut, 'from' | 'where'> & {
    /** By column. */
    readonly decided: Readonly<Record<string, string>>;
  };
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The rows by table, in the order in which the tables first occur. All rows of a table have the same `fanOut`.
 * @throws Error for an entity that no context has registered
 */
export function rowsByTable(orm: Pick<MikroORM, 'getMetadata'>, rows: readonly TableRow[]): TableRows[] {
  const entities = new Set(rows.map(({ entity }) => entity));
  return [...entities].map((entity) => {
    // By entity, the ORM would return the entity's own metadata for one that is not registered.
    const metadata = orm.getMetadata().getAll().get(entity.meta.class);
    if (!metadata) throw new Error(`No context has registered the entity ${entity.meta.className}`);
    const own = rows.filter((row) => row.entity === entity);
    const layout = layoutOf(metadata);
    return { ...layout, ...fannedOut(layout, own[0]?.fanOut), rows: own.map(({ row }) => byColumn(layout, row)) };
  });
}

/**
 * An insert of such rows that skips rows that exist.
 * @param rows the reference of the parameter with the rows, of the type `jsonb`
 * @param condition a table or subquery: the rows are inserted only if it has a row
 */
export function insertRows(
  { table, columns, primaryKey, fanOut }: Omit<TableRows, 'rows'>,
  rows: string,
  condition: string,
): string {
  const names = columns.map(quoted).join(', ');
  const values = columns.map((column) => fanOut?.decided[column] ?? `added.${quoted(column)}`).join(', ');
  // `offset 0`: otherwise the planner, which expects a hundred rows in the parameter, reads the whole table.
  const matching = fanOut
    ? ` cross join lateral (select * from ${fanOut.from} matching where ${fanOut.where} offset 0) matching`
    : '';
  return `insert into ${quoted(table)} (${names})
    select ${values} from ${condition}, jsonb_populate_recordset(null::${quoted(table)}, ${rows}) added${matching}
    on conflict (${primaryKey.map(quoted).join(', ')}) do nothing`;
}

interface Layout extends Omit<TableRows, 'rows'> {
  readonly properties: readonly { readonly name: string; readonly column: string }[];
}

function fannedOut({ properties }: Layout, fanOut: FanOut | undefined): Pick<TableRows, 'fanOut'> {
  if (!fanOut) return {};
  const { from, where, values } = fanOut;
  const decided = properties.flatMap(({ name, column }) => {
    const value = values[name];
    return value === undefined ? [] : [[column, value] as const];
  });
  return { fanOut: { from, where, decided: Object.fromEntries(decided) } };
}

const layouts = new WeakMap<EntityMetadata, Layout>();

function layoutOf(metadata: EntityMetadata): Layout {
  const known = layouts.get(metadata);
  if (known) return known;
  const stored = metadata.props.filter(
    ({ persist, generated, formula }) => persist !== false && !generated && !formula,
  );
  const properties = stored.map(({ name, fieldNames: [column = ''] }) => ({ name, column }));
  const layout = {
    table: metadata.tableName,
    columns: properties.map(({ column }) => column),
    primaryKey: metadata.getPrimaryProps().flatMap(({ fieldNames }) => fieldNames),
    properties,
  };
  layouts.set(metadata, layout);
  return layout;
}

function byColumn({ properties }: Layout, row: object): Record<string, unknown> {
  const given = row as Readonly<Record<string, unknown>>;
  return Object.fromEntries(properties.map(({ name, column }) => [column, toJson(given[name])]));
}

/** Values that JSON cannot represent, as text for PostgreSQL. */
function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return typeof value === 'bigint' ? value.toString() : value;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
