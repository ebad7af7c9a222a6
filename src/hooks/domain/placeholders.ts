import type { JsonObject } from '../../models/index.js';
import { MAX_TOOL_INPUT } from '../limits.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
const LONE_PLACEHOLDER = /^\$\{([^{}]+)\}$/;

/** Stands for a value that is left out. */
const DROPPED = Symbol('dropped');

/** What the placeholders stand for takes more than a tool is sent; the message is public. */
export class InputTooLarge extends Error {
  constructor() {
    super(`With its placeholders filled in the tool's input would be larger than ${MAX_TOOL_INPUT} characters.`);
  }
}

/**
 * A tool handler's input with the fields of the hook's input in place of its placeholders (`${tool_input.path}`). A value that
 * is exactly one placeholder takes over the field as it is; in a longer text a field that is no string stands as JSON. A value
 * with a placeholder that leads to nothing is left out.
 * @throws InputTooLarge
 */
export function filledIn(template: JsonObject, input: JsonObject): JsonObject {
  return new Filling(input).fill(template) as JsonObject;
}

/** What of the values the tool's schema declares: servers refuse calls with others. */
export function declaredOf(values: JsonObject, inputSchema: JsonObject): JsonObject {
  const properties = inputSchema['properties'];
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(declared, name)));
}

interface Field {
  readonly value: unknown;
  /** As it stands in a longer text. */
  readonly text: string;
}

/** A field may be named a thousand times in one text: what comes of it is counted before it is made. */
class Filling {
  private left = MAX_TOOL_INPUT;
  private readonly fields = new Map<string, Field | typeof DROPPED>();

  constructor(private readonly input: JsonObject) {}

  fill(value: unknown): unknown {
    if (typeof value === 'string') return this.fillText(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.fill(item)).filter((item) => item !== DROPPED);
    const entries = Object.entries(value).map(([name, item]) => [name, this.fill(item)] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== DROPPED));
  }

  private fillText(text: string): unknown {
    const lone = LONE_PLACEHOLDER.exec(text)?.[1];
    if (lone !== undefined) {
      const field = this.take(lone);
      return field ? field.value : DROPPED;
    }
    const paths = [...text.matchAll(PLACEHOLDER)].map(([, path = '']) => path);
    const parts = new Map<string, string>();
    for (const path of paths) {
      const field = this.take(path);
      if (!field) return DROPPED;
      parts.set(path, field.text);
    }
    return text.replace(PLACEHOLDER, (_placeholder, path: string) => parts.get(path) ?? '');
  }

  private take(path: string): Field | undefined {
    const known = this.fields.get(path) ?? fieldAt(path, this.input);
    this.fields.set(path, known);
    if (known === DROPPED) return undefined;
    this.left -= known.text.length;
    if (this.left < 0) throw new InputTooLarge();
    return known;
  }
}

/** Own fields that JSON shows: what every object inherits, and the length of an array, are nobody's input. */
function fieldAt(path: string, input: JsonObject): Field | typeof DROPPED {
  let value: unknown = input;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.prototype.propertyIsEnumerable.call(value, name))
      return DROPPED;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return { value, text: typeof value === 'string' ? value : JSON.stringify(value) };
}
