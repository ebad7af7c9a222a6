import type { JsonObject } from '../../models/index.js';
import { MAX_FILLED_CHARACTERS } from '../limits.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
const LONE_PLACEHOLDER = /^\$\{([^{}]+)\}$/;

/** Stands for a value that is left out. */
const DROPPED = Symbol('dropped');

/** Placeholders have made more of a tool handler's input than is sent; the message is public. */
export class InputTooLarge extends Error {}

/**
 * A tool handler's input with the fields of the hook's input in place of its placeholders (`${tool_input.path}`). A value that
 * is exactly one placeholder takes over the field as it is; in a longer text a field that is no string stands as JSON. A value
 * with a placeholder that leads to nothing is left out.
 * @throws InputTooLarge
 */
export function filledIn(template: JsonObject, input: JsonObject): JsonObject {
  return new Filling(input).filled(template) as JsonObject;
}

/** What of the arguments the tool's schema declares: servers refuse calls with others. */
export function declaredOf(values: JsonObject, inputSchema: JsonObject): JsonObject {
  const properties = inputSchema['properties'];
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(declared, name)));
}

class Filling {
  /** Of what placeholders put in: a document may name a large field thousands of times. */
  private charactersLeft = MAX_FILLED_CHARACTERS;
  private readonly jsonOf = new Map<string, string>();

  constructor(private readonly input: JsonObject) {}

  filled(value: unknown): unknown {
    if (typeof value === 'string') return this.filledText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.filled(item)).filter((item) => item !== DROPPED);
    const entries = Object.entries(value).map(([name, item]) => [name, this.filled(item)] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== DROPPED));
  }

  private filledText(text: string): unknown {
    const lone = LONE_PLACEHOLDER.exec(text)?.[1];
    if (lone !== undefined) {
      const field = fieldAt(lone, this.input);
      if (field !== DROPPED) this.take(this.textOf(lone, field));
      return field;
    }
    const paths = [...text.matchAll(PLACEHOLDER)].map(([, path = '']) => path);
    if (paths.some((path) => fieldAt(path, this.input) === DROPPED)) return DROPPED;
    return text.replace(PLACEHOLDER, (_placeholder, path: string) => this.take(this.textOf(path, fieldAt(path, this.input))));
  }

  private textOf(path: string, field: unknown): string {
    if (typeof field === 'string') return field;
    const json = this.jsonOf.get(path) ?? JSON.stringify(field);
    this.jsonOf.set(path, json);
    return json;
  }

  private take(text: string): string {
    this.charactersLeft -= text.length;
    if (this.charactersLeft >= 0) return text;
    throw new InputTooLarge(`The placeholders of the handler's input stand for more than ${MAX_FILLED_CHARACTERS} characters.`);
  }
}

/** Own fields that JSON shows: what every object inherits, and the length of an array, are nobody's input. */
function fieldAt(path: string, input: JsonObject): unknown {
  let value: unknown = input;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.prototype.propertyIsEnumerable.call(value, name)) return DROPPED;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}
