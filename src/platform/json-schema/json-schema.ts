import { Check, CheckTooLong, type CompiledSchema } from './check.js';
import { SchemaReader } from './schema-reader.js';
import { UnusableSchema } from './unusable-schema.js';
import type { JsonValues } from './values.js';

export { UnusableSchema };
export type { JsonValues };

const TOO_LONG =
  'takes too many steps to check against the schema. A simpler schema or a smaller document takes fewer.';

/**
 * A JSON Schema of anybody, of the draft 2020-12 or one of its predecessors, to check documents with. Nothing of the schema is
 * executed or fetched, and both reading it and a check are bounded in time, so both may run on the event loop.
 */
export class JsonSchema {
  private constructor(private readonly root: CompiledSchema) {}

  /** @throws UnusableSchema for a schema that is invalid, or has a keyword that cannot be checked */
  static read(schema: JsonValues): JsonSchema {
    return new JsonSchema(new SchemaReader().read(schema));
  }

  /** @returns at most a few problems, each with its path; none for a valid document */
  problemsOf(document: unknown): readonly string[] {
    const check = new Check();
    try {
      check.holds(this.root, document, { parent: null, name: '' });
    } catch (error) {
      if (!(error instanceof CheckTooLong)) throw error;
      return [TOO_LONG];
    }
    return check.problems;
  }
}
