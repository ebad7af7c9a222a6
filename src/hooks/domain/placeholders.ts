import type { JsonObject } from '../../models/index.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
const LONE_PLACEHOLDER = /^\$\{([^{}]+)\}$/;

/** Stands for a value that is left out. */
const DROPPED = Symbol('dropped');

/**
 * A tool handler's input with the fields of the hook's input in place of its placeholders (`${tool_input.path}`). A value that
 * is exactly one placeholder takes over the field as it is; in a longer text a field that is no string stands as JSON. A value
 * with a placeholder that leads to nothing is left out.
 */
export function filledIn(template: JsonObject, input: JsonObject): JsonObject {
  return filled(template, input) as JsonObject;
}

/** What of the arguments the tool's schema declares: servers refuse calls with others. */
export function declaredOf(values: JsonObject, inputSchema: JsonObject): JsonObject {
  const properties = inputSchema['properties'];
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(declared, name)));
}

function filled(value: unknown, input: JsonObject): unknown {
  if (typeof value === 'string') return filledText(value, input);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => filled(item, input)).filter((item) => item !== DROPPED);
  const entries = Object.entries(value).map(([name, item]) => [name, filled(item, input)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== DROPPED));
}

function filledText(text: string, input: JsonObject): unknown {
  const lone = LONE_PLACEHOLDER.exec(text)?.[1];
  if (lone !== undefined) return fieldAt(lone, input);
  const paths = [...text.matchAll(PLACEHOLDER)].map(([, path = '']) => path);
  if (paths.some((path) => fieldAt(path, input) === DROPPED)) return DROPPED;
  return text.replace(PLACEHOLDER, (_placeholder, path: string) => {
    const field = fieldAt(path, input);
    return typeof field === 'string' ? field : JSON.stringify(field);
  });
}

/** Own fields alone: what every object inherits is nobody's input. */
function fieldAt(path: string, input: JsonObject): unknown {
  let value: unknown = input;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return DROPPED;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
