export { Database, type EntityReader, toDate, type SqlExecutor, type Transaction } from './database.js';
export { DatabaseUnavailable, isForeignKeyViolation, isUniqueViolation } from './database-failure.js';
export { DataFolderInUse } from './data-folder.js';
export { lacksRoom, RESERVE_MIB } from './free-space.js';
export { DatabaseModule, OPEN_DATABASE } from './database.module.js';
export { CustomerJson, JsonDocument } from './json-document.js';
export { inBatches } from './in-batches.js';
export { migrate, pendingMigrations } from './migrate.js';
export { openDatabase } from './open-database.js';
export type { NativeDatabase, OpenDatabase } from './database-handle.js';
export { prepareDatabase, PREPARED_DATABASE, preparedVersion, readPrepared } from './prepared-database.js';
export { type ParameterReferences, type ParametersOf, statement, type Statement } from './statement.js';
export {
  type FanOut,
  fanOutRow,
  insertRows,
  rowsByTable,
  tableRow,
  type TableRow,
  type TableRows,
} from './table-rows.js';
export { isStorable, storableJson, storableText } from './storable.js';
export { BASE, type ContextSchema, contraction, indexMigration, migration, migrationsOf } from './schema.js';
export { SchemaRefusal, schemaState, type SchemaState } from './schema-state.js';
