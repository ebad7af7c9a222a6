import { declareField, type FieldOptions } from '../../platform/http/index.js';

const MAX_ENTRIES = 64;
const MAX_KEY_LENGTH = 255;
const MAX_VALUE_LENGTH = 10_000;
const SCALARS = new Set(['string', 'number', 'boolean']);

/** An object of strings, numbers and booleans: what a caller says about its user. */
export function UserContextField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, {
    rule: (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
      const entries = Object.entries(value);
      if (entries.length > MAX_ENTRIES) return `must have at most ${MAX_ENTRIES} entries`;
      return entries.map(([key, item]) => complaint(key, item)).find((found) => found !== undefined);
    },
    schema: {
      type: 'object',
      maxProperties: MAX_ENTRIES,
      additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
    },
  });
}

function complaint(key: string, item: unknown): string | undefined {
  if (key === '' || [...key].length > MAX_KEY_LENGTH) return `must have keys of 1 to ${MAX_KEY_LENGTH} characters`;
  if (!SCALARS.has(typeof item)) return `/${key} must be a string, a number or a boolean`;
  if (typeof item === 'string' && [...item].length > MAX_VALUE_LENGTH) {
    return `/${key} must be at most ${MAX_VALUE_LENGTH} characters`;
  }
  return undefined;
}

/** A list of any JSON in an answer. */
export function JsonListField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, {
    rule: (value) => (Array.isArray(value) ? undefined : 'must be an array'),
    schema: { type: 'array', items: {} },
  });
}
