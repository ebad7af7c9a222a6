import { type EntityData, type EntityMetadata, ObjectHydrator, type Platform, p, type TransformContext } from '@mikro-orm/core';
import type { z } from 'zod';
import { readStored, type Stored, UnreadableJson } from '../stored-json/index.js';
import { StorableJson } from './storable.js';

/**
 * A JSON column whose shape is the service's own. Whatever version wrote a row, its schema reads it as today's: it has a default
 * for every field that earlier versions did not write. Entities have it as `property()`; rows of hand-written statements are
 * read by `read`.
 */
export class JsonDocument<Schema extends z.ZodType = z.ZodType> {
  /** @param column as `table.column` */
  constructor(
    readonly column: string,
    private readonly schema: Schema,
  ) {}

  property() {
    // A class of its own: the ORM copies the instances that it finds in a mapping, and a schema does not survive that.
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

  /** As `read`, of a column that a statement answers as text. */
  readText(json: string, row?: string): Stored<Schema> {
    return this.read(JSON.parse(json), row);
  }

  /** As `read`, of a column that may be null. */
  readNullable(value: unknown, row?: string): Stored<Schema> | null {
    return value === null || value === undefined ? null : this.read(value, row);
  }
}

/**
 * A JSON column that holds what a customer, a model or a tool sent, exactly as it came: no version of the service gives it a
 * shape, so there is nothing to default.
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

/** Adds to the error of a JSON column, which knows no row, which row it is. */
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
      throw new UnreadableJson(error.column, error.problem, meta.primaryKeys.map((name) => String(row[name])).join(' '));
    }
  }
}
