import { StatementFailed, withoutValues } from '../errors/index.js';

export const REDACTED = '[redacted]';

const SECRET_NAME = /authorization|api-?_?key|token|secret|password|passphrase|cookie|credential|private-?_?key/i;
/** API keys of this service and of the providers, bearer credentials, signed passes, passwords in URLs. */
const SECRET_TEXT = new RegExp(
  [
    /\b(?:ak_|sk-|AIza)[\w-]{8,}/,
    /\bBearer\s+[\w.~+/=-]{8,}/,
    /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/,
    /(?<=:\/\/[^\s:/@]{0,100}:)[^\s/@]+(?=@)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
/** Keeps whole prompts, pages and statements out of the log. */
const MAX_TEXT_LENGTH = 2_000;
const MAX_LIST_LENGTH = 50;
const MAX_DEPTH = 6;

/**
 * A copy of `value` for the log. Replaces values with names of secrets, except numbers and booleans (so `inputTokens: 5` stays), and
 * text that looks like a secret.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return typeof value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (value instanceof Date) return value;
  if (value instanceof Error) return redactError(value, depth);
  if (ArrayBuffer.isView(value)) return '[binary]';
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_LENGTH).map((item) => redact(item, depth + 1));
  return redactFields(value, depth);
}

/** As `redact`, of an object that is no error. */
export function redactFields(value: object, depth = 0): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const harmless = field === null || field === undefined || typeof field === 'number' || typeof field === 'boolean';
    copy[name] = SECRET_NAME.test(name) && !harmless ? REDACTED : redact(field, depth + 1);
  }
  return copy;
}

/**
 * Only the parts that explain the error, because drivers and clients attach statements, requests and headers to their errors, and
 * databases the values of rows.
 */
function redactError(thrown: Error, depth: number): Record<string, unknown> {
  const error = withoutValues(thrown) as Error;
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  return {
    type: error.name,
    message: redactText(withoutJson(error.message)),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof detail === 'string' ? { detail: redactText(detail) } : {}),
    ...(error instanceof StatementFailed ? error.facts : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(withoutJson(error.stack)) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}

/** V8 quotes the text that is not JSON. */
function withoutJson(text: string): string {
  return text.replace(/(?:\.\.\.)?"[^]*"(?:\.\.\.)? is not valid JSON/, 'the text is not valid JSON');
}

export function redactText(text: string): string {
  const cut = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}...` : text;
  return cut.replace(SECRET_TEXT, REDACTED);
}
