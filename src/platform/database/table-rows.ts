import type { EntityMetadata, EntitySchema, MikroORM } from '@mikro-orm/core';

/** A row for a mapped table (`ContextSchema.entities`), by the names of its properties. */
export interface TableRow {
  readonly entity: EntitySchema;
  readonly row: object;
}

/** The row has every property of the mapping; the database computes only generated columns. */
export function tableRow<Entity extends object>(
  entity: EntitySchema<Entity>,
  row: { readonly [Property in keyof Entity & string]: Entity[Property] },
): TableRow {
  return { entity: entity as EntitySchema, row };
}

/** Rows of one table for a statement, which has all of them in one parameter. */
export interface TableRows {
  readonly table: string;
  /** The columns of a mapped row, and so of the parameter's JSON. */
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The rows by table, in the order in which the tables first occur.
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
    return { ...layout, rows: own.map(({ row }) => byColumn(layout, row)) };
  });
}

/**
 * An insert of such rows that skips rows that exist.
 * @param rows the reference of the parameter with the rows, of the type `jsonb`
 * @param condition a table or subquery: the rows are inserted only if it has a row
 */
export function insertRows(
  { table, columns, primaryKey }: Omit<TableRows, 'rows'>,
  rows: string,
  condition: string,
): string {
  const names = columns.map(quoted).join(', ');
  const values = columns.map((column) => `added.${quoted(column)}`).join(', ');
  return `insert into ${quoted(table)} (${names})
    select ${values} from ${condition}, jsonb_populate_recordset(null::${quoted(table)}, ${rows}) added
    on conflict (${primaryKey.map(quoted).join(', ')}) do nothing`;
}

interface Layout extends Omit<TableRows, 'rows'> {
  readonly properties: readonly { readonly name: string; readonly column: string }[];
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
