import { ValidationFailed } from '../../../platform/errors/index.js';
import { MAX_SCOPE_BYTES, MAX_SCOPE_ENTRIES, MAX_SCOPE_KEY_LENGTH, MAX_SCOPE_VALUE_LENGTH } from '../limits.js';
import type { DocumentScope } from './upload.js';

const WITHOUT = 'without U+0000 and lone surrogates';
const SCALAR = `a string of at most ${MAX_SCOPE_VALUE_LENGTH} characters ${WITHOUT}, a number within 2^53 or a boolean`;

/**
 * Parses the JSON of the form field `scope`.
 * @returns null for an object without entries, since all runs match it
 * @throws ValidationFailed
 */
export function parseUploadScope(text: string): DocumentScope | null {
  const entries = Object.entries(parseObject(text));
  if (Buffer.byteLength(JSON.stringify(Object.fromEntries(entries))) > MAX_SCOPE_BYTES)
    throw refused(`must have at most ${MAX_SCOPE_BYTES} bytes`);
  if (entries.length > MAX_SCOPE_ENTRIES) throw refused(`must have at most ${MAX_SCOPE_ENTRIES} entries`);
  for (const [key, value] of entries) {
    if (!isShort(key, MAX_SCOPE_KEY_LENGTH) || key === '')
      throw refused(`must have keys of 1 to ${MAX_SCOPE_KEY_LENGTH} characters, ${WITHOUT}`);
    if (!isScalar(value)) throw refused(`/${key} must be ${SCALAR}`);
  }
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below, like other values that are not objects.
  }
  throw refused('must be a JSON object of strings, numbers and booleans');
}

/** `JSON.parse` makes `Infinity` of `1e999`, and rounds numbers beyond 2^53, so that different ones would match. */
function isScalar(value: unknown): boolean {
  return (
    typeof value === 'boolean' ||
    (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) ||
    (typeof value === 'string' && isShort(value, MAX_SCOPE_VALUE_LENGTH))
  );
}

function isShort(text: string, max: number): boolean {
  return text.length <= 2 * max && [...text].length <= max && text.isWellFormed() && !text.includes('\u0000');
}

/** @param text the rest of the sentence that starts with the field's path */
function refused(text: string): ValidationFailed {
  return new ValidationFailed(`body/scope${text.startsWith('/') ? '' : ' '}${text}`);
}
