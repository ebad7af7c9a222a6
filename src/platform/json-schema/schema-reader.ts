import { Expression, expressionCost, RefusedExpression } from '../expressions/index.js';
import type { CompiledSchema, Place } from './check.js';
import { KEYWORDS, type SchemaParts } from './keywords.js';
import { MAX_PATTERNS_COST, PATTERN_COST } from './limits.js';
import { UnusableSchema } from './unusable-schema.js';
import { isObject, type JsonValues } from './values.js';

const ANYTHING: CompiledSchema = { assertions: [] };
const NOTHING: CompiledSchema = { assertions: [(check, _value, place) => check.report(place, 'is not allowed')] };

/** They restrict the document, and cannot be checked here. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  ...['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'],
]);

interface Reference {
  readonly target: string;
  readonly place: Place;
  resolved: CompiledSchema;
}

/** Reads one schema with all schemas in it. */
export class SchemaReader implements SchemaParts {
  /** The schemas of the document: a reference leads to one of them. */
  private readonly schemas = new Map<unknown, CompiledSchema>();
  private readonly references: Reference[] = [];
  private readonly patterns = new Map<string, Expression>();
  private patternsCost = 0;

  read(root: JsonValues): CompiledSchema {
    const compiled = this.schema(root, { parent: null, name: '' });
    for (const reference of this.references) reference.resolved = this.resolve(root, reference);
    return compiled;
  }

  schema(schema: unknown, place: Place): CompiledSchema {
    if (typeof schema === 'boolean') return schema ? ANYTHING : NOTHING;
    if (!isObject(schema)) throw new UnusableSchema(place, 'must be a schema: an object or a boolean');
    const known = this.schemas.get(schema);
    if (known) return known;
    const compiled: CompiledSchema = { assertions: [] };
    this.schemas.set(schema, compiled);
    for (const [keyword, value] of Object.entries(schema)) {
      const at = { parent: place, name: keyword };
      // An `$id` below the root changes what the references there mean.
      if (UNSUPPORTED.has(keyword) || (keyword === '$id' && place.parent !== null))
        throw new UnusableSchema(at, 'is not supported');
      const assertion = KEYWORDS.get(keyword)?.({ parts: this, schema, value, place: at });
      if (assertion) compiled.assertions.push(assertion);
    }
    return compiled;
  }

  list(value: unknown, place: Place): readonly CompiledSchema[] {
    if (!Array.isArray(value) || value.length === 0) throw new UnusableSchema(place, 'must be a list of schemas');
    return value.map((each, index) => this.schema(each, { parent: place, name: index }));
  }

  map(value: unknown, place: Place): readonly (readonly [string, CompiledSchema])[] {
    if (!isObject(value)) throw new UnusableSchema(place, 'must be an object of schemas');
    return Object.entries(value).map(([name, each]) => [name, this.schema(each, { parent: place, name })]);
  }

  pattern(source: unknown, place: Place): Expression {
    if (typeof source !== 'string') throw new UnusableSchema(place, 'must be a string');
    const known = this.patterns.get(source);
    if (known) return known;
    // Before it is compiled, which may take milliseconds for each pattern.
    this.patternsCost += PATTERN_COST + expressionCost(source);
    if (this.patternsCost > MAX_PATTERNS_COST)
      throw new UnusableSchema(place, 'is too complex: the patterns of the schema together take too many steps');
    try {
      const expression = Expression.compilePattern(source);
      this.patterns.set(source, expression);
      return expression;
    } catch (error) {
      if (error instanceof RefusedExpression) throw new UnusableSchema(place, error.message);
      throw error;
    }
  }

  reference(target: unknown, place: Place): () => CompiledSchema {
    if (typeof target !== 'string' || !/^#(?:$|\/)/.test(target))
      throw new UnusableSchema(place, 'must begin with #, since only schemas of the same document can be referred to');
    const reference: Reference = { target, place, resolved: NOTHING };
    this.references.push(reference);
    return () => reference.resolved;
  }

  private resolve(root: JsonValues, { target, place }: Reference): CompiledSchema {
    let part: unknown = root;
    for (const name of target.split('/').slice(1).map(pointerPart)) {
      const isContainer = typeof part === 'object' && part !== null;
      part = isContainer && Object.hasOwn(part as object, name) ? (part as JsonValues)[name] : undefined;
    }
    if (typeof part === 'boolean') return part ? ANYTHING : NOTHING;
    const schema = this.schemas.get(part);
    if (!schema) throw new UnusableSchema(place, 'leads to no schema of the document');
    return schema;
  }
}

function pointerPart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
