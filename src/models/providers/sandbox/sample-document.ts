import { isJsonObject } from '../../domain/json-object.js';
import type { JsonObject, ResponseFormat } from '../../domain/model-runtime.js';

/** Deeper parts of a recursive schema are left out, which fits unless it requires them. */
const MAX_DEPTH = 8;
/** Values of one document; the rest is null. */
const MAX_VALUES = 1_000;
const MAX_TEXT = 10_000;

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  email: 'sandbox@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/** A document that fits the usual schemas: those without patterns and conditions. @param text for its strings */
export function sampleDocument(format: ResponseFormat, text: string): unknown {
  return format.type === 'json_object' ? { sample: text } : new Sample(format.schema, text).of(format.schema, 0);
}

class Sample {
  private values = 0;

  constructor(
    private readonly root: JsonObject,
    private readonly text: string,
  ) {}

  of(schema: unknown, depth: number): unknown {
    this.values += 1;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || this.values > MAX_VALUES) return null;
    const { $ref: reference, const: only, enum: values, allOf } = schema;
    if (typeof reference === 'string') return this.of(this.target(reference), depth + 1);
    if (only !== undefined) return only;
    if (Array.isArray(values)) return values[0];
    const [choice] = [schema['anyOf'] ?? schema['oneOf'] ?? []].flat() as unknown[];
    if (choice !== undefined) return this.of(choice, depth + 1);
    if (Array.isArray(allOf))
      return this.of(Object.fromEntries(allOf.flatMap((part) => Object.entries(part as object))), depth + 1);
    return this.ofType(schema, depth);
  }

  private ofType(schema: JsonObject, depth: number): unknown {
    const [type] = [schema['type'] ?? ('properties' in schema ? 'object' : 'string')].flat();
    switch (type) {
      case 'object':
        return this.object(schema, depth);
      case 'array': {
        const length = Math.min(Math.max(1, numberOr(schema['minItems'], 1)), MAX_VALUES);
        return Array.from({ length }, () => this.of(schema['items'] ?? {}, depth + 1));
      }
      case 'integer':
      case 'number':
        return sampleNumber(schema);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return this.string(schema);
    }
  }

  private object({ properties = {}, required = [] }: JsonObject, depth: number): JsonObject {
    const needed = new Set(required as string[]);
    const isTooDeep = depth >= MAX_DEPTH / 2;
    const fields = Object.entries(properties as JsonObject).filter(([name]) => !isTooDeep || needed.has(name));
    return Object.fromEntries(fields.map(([name, schema]) => [name, this.of(schema, depth + 1)]));
  }

  private string({ format, minLength, maxLength }: JsonObject): string {
    const sample = typeof format === 'string' ? FORMATS[format] : undefined;
    return (
      sample ??
      this.text.padEnd(Math.min(numberOr(minLength, 0), MAX_TEXT), '.').slice(0, numberOr(maxLength, Infinity))
    );
  }

  private target(reference: string): unknown {
    const path = reference.split('/').slice(1);
    return path.reduce<unknown>((part, name) => (isJsonObject(part) ? part[name] : undefined), this.root);
  }
}

/** The least number that fits, or 1. */
function sampleNumber({ minimum, exclusiveMinimum, maximum, multipleOf }: JsonObject): number {
  const step = numberOr(multipleOf, 1);
  const usual = numberOr(minimum, Math.min(1, numberOr(maximum, 1)));
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : usual;
  return Math.ceil(least / step) * step;
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
