import type { JsonObject } from '../../models/index.js';
import { MAX_TOOL_INPUT } from '../limits.js';
import { HandlerFailed } from './hook-output.js';

const PLACEHOLDER = /\$\{([^{}]+)\}/g;
const LONE_PLACEHOLDER = /^\$\{([^{}]+)\}$/;

/** Marks a value that is left out. */
const DROPPED = Symbol('dropped');

class InputTooLarge extends HandlerFailed {
  constructor() {
    super(`With its placeholders replaced, the tool's input would be larger than ${MAX_TOOL_INPUT} characters.`);
  }
}

/**
 * Replaces the placeholders (`${tool_input.path}`) of a tool handler's input by fields of the hook's input. A value that is
 * exactly one placeholder becomes the field with its type; within a longer text a field that is not a string becomes JSON. A
 * value with a placeholder for an absent field is left out.
 * @throws HandlerFailed when the result is too large
 */
export function fillPlaceholders(template: JsonObject, input: JsonObject): JsonObject {
  return new PlaceholderFiller(input).fill(template) as JsonObject;
}

/** Without the values that the tool's schema does not declare, which servers would refuse. */
export function declaredValues(values: JsonObject, inputSchema: JsonObject): JsonObject {
  const properties = inputSchema['properties'];
  const declared = typeof properties === 'object' && properties !== null ? properties : {};
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(declared, name)));
}

interface Field {
  readonly value: unknown;
  /** The value within a longer text. */
  readonly text: string;
}

/** Counts the characters before it builds a text, because one text may refer to a large field a thousand times. */
class PlaceholderFiller {
  private remaining = MAX_TOOL_INPUT;
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
    this.remaining -= known.text.length;
    if (this.remaining < 0) throw new InputTooLarge();
    return known;
  }
}

/** Only enumerable own properties: inherited ones and the length of an array are not part of the input. */
function fieldAt(path: string, input: JsonObject): Field | typeof DROPPED {
  let value: unknown = input;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.prototype.propertyIsEnumerable.call(value, name))
      return DROPPED;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return { value, text: typeof value === 'string' ? value : JSON.stringify(value) };
}
