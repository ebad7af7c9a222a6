export { Database, toDate, type SqlExecutor, type Transaction } from './database.js';
export { databaseFailure, DatabaseUnavailable, isForeignKeyViolation, isUniqueViolation } from './database-failure.js';
export { DataFolderInUse } from './data-folder.js';
export { DatabaseModule, OPEN_DATABASE } from './database.module.js';
export { migrate, pendingMigrations } from './migrate.js';
export { openDatabase, openPglite, type NativeDatabase, type OpenDatabase } from './open-database.js';
export { numberedAfter, type Statement } from './statement.js';
export { storableJson, storableText } from './storable.js';
export { migration, type ContextSchema, type NamedMigration } from './schema.js';
