import type { ToolDefinition } from '../../models/index.js';
import { MAX_SCHEMA_CHARACTERS } from './limits.js';

const ANY_INPUT = { type: 'object' } as const;
const UNTOLD = 'Its arguments are not listed here, because their description is too large.';

/** Sources offer the same definitions run after run, and schemas may be large. */
const knownCharacters = new WeakMap<ToolDefinition, number>();
const knownPlain = new WeakMap<ToolDefinition, ToolDefinition>();

/** The length of the definition as JSON. */
export function charactersOf(definition: ToolDefinition): number {
  const characters = knownCharacters.get(definition) ?? JSON.stringify(definition).length;
  knownCharacters.set(definition, characters);
  return characters;
}

/** The definition for requests, without a schema that would take a large share of a model's context. */
export function offeredDefinition(definition: ToolDefinition): ToolDefinition {
  // Fast path: the schema is a part of the definition.
  if (charactersOf(definition) <= MAX_SCHEMA_CHARACTERS) return definition;
  const offered = knownPlain.get(definition) ?? withoutLargeSchema(definition);
  knownPlain.set(definition, offered);
  return offered;
}

function withoutLargeSchema(definition: ToolDefinition): ToolDefinition {
  const { name, description, inputSchema } = definition;
  if (JSON.stringify(inputSchema).length <= MAX_SCHEMA_CHARACTERS) return definition;
  return { name, description: description === '' ? UNTOLD : `${description}\n\n${UNTOLD}`, inputSchema: ANY_INPUT };
}
