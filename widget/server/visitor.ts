import { isRecord } from './fields.js';
import type { Visitor } from './options.js';

const MAX_ID = 1_000;
/** `userId` is one more. */
const MAX_CONTEXT = 63;
const MAX_NAME = 255;
const MAX_TEXT = 10_000;

/**
 * What the service would refuse is refused here, so that a mistake shows in both modes, at once. An id that is missing or empty
 * must never make two visitors one.
 * @throws Error that says what is wrong, without the value
 */
export function readVisitor(value: unknown): Visitor {
  if (!isRecord(value)) throw new Error('it must be an object with an id, or null');
  const { id, userContext = {} } = value;
  if (!isText(id, MAX_ID) || id === '') throw new Error(`id must be a string of 1 to ${MAX_ID} characters`);
  if (looksLikeEmail(id)) throw new Error('id must be an id that stays the same, never an e-mail address');
  return { id, userContext: contextOf(userContext) };
}

function contextOf(given: unknown): Readonly<Record<string, string | number | boolean>> {
  // A Map or another object would look empty.
  const isPlain = isRecord(given) && Object.prototype.toString.call(given) === '[object Object]';
  if (!isPlain) throw new Error('userContext must be a plain object');
  const entries = Object.entries(given);
  if (entries.length > MAX_CONTEXT) throw new Error(`userContext must have at most ${MAX_CONTEXT} entries`);
  const context: Record<string, string | number | boolean> = {};
  for (const [name, value] of entries) {
    if (!isText(name, MAX_NAME) || name === '' || name === '__proto__') {
      throw new Error(`names in userContext must have 1 to ${MAX_NAME} characters, and not be __proto__`);
    }
    if (typeof value !== 'boolean' && !Number.isFinite(value) && !isText(value, MAX_TEXT)) {
      throw new Error(
        `values in userContext must be booleans, finite numbers or strings of at most ${MAX_TEXT} characters`,
      );
    }
    Object.assign(context, { [name]: value });
  }
  return context;
}

/** The database stores neither NUL nor half of a surrogate pair. */
function isText(value: unknown, max: number): value is string {
  if (typeof value !== 'string' || value.length > 2 * max) return false;
  return [...value].length <= max && !/[\0\p{Surrogate}]/u.test(value);
}

/** As the service tells it. */
function looksLikeEmail(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && !/\s/.test(text) && /^[^@.]+(\.[^@.]+)+$/.test(text.slice(at + 1));
}
