import type { Options } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import { DocumentHydrator } from './json-document.js';
import type { MigrationSettings } from './migration-connections.js';
import type { ContextSchema, NamedMigration } from './schema.js';

export function ormOptions(
  schemas: readonly ContextSchema[],
): MigrationSettings & Pick<Options, 'entities' | 'hydrator'> {
  return {
    ...withoutEntities(schemas),
    hydrator: DocumentHydrator,
    entities: schemas.flatMap((schema) => [...schema.entities]),
  };
}

function migrationsOf(schemas: readonly ContextSchema[]): NamedMigration[] {
  return schemas
    .flatMap((schema) => [...schema.migrations])
    .sort((left, right) => left.name.localeCompare(right.name, 'en'));
}

export function namesOf(schemas: readonly ContextSchema[]): string[] {
  return migrationsOf(schemas).map(({ name }) => name);
}

export function withoutEntities(schemas: readonly ContextSchema[]): MigrationSettings {
  return {
    extensions: [Migrator],
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    // The service logs in its own format.
    logger: () => undefined,
    migrations: {
      tableName: 'schema_migrations',
      snapshot: false,
      transactional: true,
      migrationsList: migrationsOf(schemas),
    },
  };
}
