import {
  type EntityData,
  type EntityMetadata,
  ObjectHydrator,
  type Platform,
  p,
  type TransformContext,
} from '@mikro-orm/core';
import type { z } from 'zod';
import { readStored, type Stored, UnreadableJson } from '../stored-json/index.js';
import { StorableJson } from './storable.js';

/**
 * A JSON column whose shape the service defines. The schema has a default for every field that was added later, so it reads the
 * rows of all releases alike. Entities map the column with `property()`; code calls `read` for rows of hand-written statements.
 */
export class JsonDocument<Schema extends z.ZodType = z.ZodType> {
  /** @param column as `table.column` */
  constructor(
    readonly column: string,
    private readonly schema: Schema,
  ) {}

  property() {
    // One class a column: the ORM copies the type instances that it finds in a mapping, which would break the schema.
    const read = (value: unknown): unknown => this.readNullable(value);
    const { column } = this;
    class DocumentType extends StorableJson {
      static readonly column = column;
      override convertToJSValue(value: unknown, platform: Platform, context?: TransformContext): unknown {
        return read(super.convertToJSValue(value, platform, context));
      }
    }
    return p.type(DocumentType).$type<Stored<Schema>>();
  }

  /**
   * @param row names the row in the error
   * @throws UnreadableJson
   */
  read(value: unknown, row?: string): Stored<Schema> {
    return readStored(this.schema, value, { column: this.column, row });
  }

  /** As `read`, for a column that a statement returns as text. */
  readText(json: string, row?: string): Stored<Schema> {
    return this.read(JSON.parse(json), row);
  }

  /** As `read`, for a column that may be null. */
  readNullable(value: unknown, row?: string): Stored<Schema> | null {
    return value === null || value === undefined ? null : this.read(value, row);
  }
}

/**
 * A JSON column that holds what a customer, a model or a tool sent, unchanged: the service does not define its shape, so it has no
 * schema and no defaults.
 */
export class CustomerJson<Value> {
  /** @param column as `table.column` */
  constructor(readonly column: string) {}

  property() {
    const { column } = this;
    class CustomerType extends StorableJson {
      static readonly column = column;
    }
    return p.type(CustomerType).$type<Value>();
  }

  read(value: unknown): Value {
    return value as Value;
  }
}

type Rest<Parameters> = Parameters extends [unknown, unknown, unknown, ...infer Others] ? Others : never;

/** Adds the primary key to the error of a JSON column, which the column's type does not have. */
export class DocumentHydrator extends ObjectHydrator {
  override hydrate<Entity extends object>(
    entity: Entity,
    meta: EntityMetadata<Entity>,
    data: EntityData<Entity>,
    ...rest: Rest<Parameters<ObjectHydrator['hydrate']>>
  ): void {
    try {
      super.hydrate(entity, meta, data, ...rest);
    } catch (error) {
      if (!(error instanceof UnreadableJson) || error.row !== undefined) throw error;
      const row = data as Readonly<Record<string, unknown>>;
      throw new UnreadableJson(
        error.column,
        error.problem,
        meta.primaryKeys.map((name) => String(row[name])).join(' '),
      );
    }
  }
}
