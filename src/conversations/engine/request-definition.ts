import { type ToolDefinition, withoutSchema } from '../../models/index.js';
import { MAX_SCHEMA_CHARACTERS } from './limits.js';

/** Caches, since sources offer the same definitions run after run and schemas may be large. */
const knownCharacters = new WeakMap<ToolDefinition, number>();
const knownPlain = new WeakMap<ToolDefinition, ToolDefinition>();

/** The length of the definition as JSON. */
export function charactersOf(definition: ToolDefinition): number {
  const characters = knownCharacters.get(definition) ?? JSON.stringify(definition).length;
  knownCharacters.set(definition, characters);
  return characters;
}

/** The definition for requests. A very large schema is replaced, since it would fill the model's context. */
export function requestDefinition(definition: ToolDefinition): ToolDefinition {
  // Fast path: the schema is smaller than the definition.
  if (charactersOf(definition) <= MAX_SCHEMA_CHARACTERS) return definition;
  const offered = knownPlain.get(definition) ?? withoutLargeSchema(definition);
  knownPlain.set(definition, offered);
  return offered;
}

function withoutLargeSchema(definition: ToolDefinition): ToolDefinition {
  if (JSON.stringify(definition.inputSchema).length <= MAX_SCHEMA_CHARACTERS) return definition;
  return withoutSchema(definition, 'their description is too large');
}
