import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { isJsonObject } from '../../domain/json-object.js';
import type { JsonObject, ResponseFormat } from '../../domain/model-runtime.js';

/** The API would refuse them, or would enforce something else: it allows no property and no item that a schema does not list. */
const INEXPRESSIBLE = [
  ...['patternProperties', 'propertyNames', 'prefixItems', 'additionalItems', 'definitions', 'not', 'if'],
];
const LISTS = ['anyOf', 'oneOf', 'allOf'];
const DEFINITION = /^#\/\$defs\/([^/~%]+)$/;

/**
 * The schema that the API enforces, without the keywords that it refuses, such as `minimum`, which become notes for the model.
 * Undefined where it cannot enforce the format: for any JSON object, maps and recursive schemas.
 */
export function nativeSchema(format: ResponseFormat): JsonObject | undefined {
  if (format.type === 'json_object' || !new Expressible(format.schema).schema(format.schema)) return undefined;
  try {
    return transformJSONSchema(format.schema);
  } catch {
    // A schema without a type, which the API refuses.
    return undefined;
  }
}

class Expressible {
  private readonly open = new Set<string>();
  private readonly done = new Set<string>();

  constructor(private readonly root: JsonObject) {}

  schema(schema: unknown): boolean {
    if (!isJsonObject(schema) || INEXPRESSIBLE.some((keyword) => keyword in schema)) return false;
    const { $ref: reference, $defs: definitions = {} } = schema;
    if (reference !== undefined) return this.reference(reference);
    if (schema !== this.root && '$defs' in schema) return false;
    if (!isJsonObject(definitions) || !Object.keys(definitions).every((name) => this.reference(`#/$defs/${name}`)))
      return false;
    return this.object(schema) && this.parts(schema);
  }

  /** A recursive schema leads to itself. */
  private reference(reference: unknown): boolean {
    const name = typeof reference === 'string' ? DEFINITION.exec(reference)?.[1] : undefined;
    if (name === undefined || this.open.has(name)) return false;
    if (this.done.has(name)) return true;
    this.open.add(name);
    const { $defs: definitions } = this.root;
    const isExpressible = isJsonObject(definitions) && this.schema(definitions[name]);
    this.open.delete(name);
    this.done.add(name);
    return isExpressible;
  }

  /** An object without listed properties may have any, and the API would allow none. */
  private object({ type, properties = {}, additionalProperties }: JsonObject): boolean {
    if (![type].flat().includes('object')) return Object.keys(properties as object).length === 0;
    if (type !== 'object' || !isJsonObject(properties) || additionalProperties === true) return false;
    return additionalProperties === false || (additionalProperties === undefined && Object.keys(properties).length > 0);
  }

  private parts(schema: JsonObject): boolean {
    const { type, properties, items } = schema;
    if ([type].flat().includes('array') && (type !== 'array' || items === undefined)) return false;
    const lists: readonly unknown[] = LISTS.map((keyword) => schema[keyword]).filter((list) => list !== undefined);
    // The SDK keeps only one of several lists, and no type beside one.
    if (lists.length > 1 || (lists.length === 1 && type !== undefined)) return false;
    const listed = isJsonObject(properties) ? Object.values(properties) : [];
    return [...listed, ...(items === undefined ? [] : [items]), ...lists.flat()].every((part) => this.schema(part));
  }
}
