import { ValidationFailed } from '../errors/index.js';

/** Deeper JSON than any field of the interface needs; recursive code after this never overflows its stack. */
const DEEPEST = 64;
const LONGEST_NAME = 100;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body. Nothing that PostgreSQL cannot store and no property that could poison a
 * prototype gets past it, so that no later layer has to think of either.
 * @returns undefined for an empty body: whether one is required is the route's schema's matter
 * @throws ValidationFailed naming the field
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const body = parse(decode(bytes));
  checkValue(body, 'body');
  return body;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ValidationFailed('body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text, which may hold a secret; its position is what helps.
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(
      error instanceof Error ? error.message : '',
    )?.[0];
    throw new ValidationFailed(`body is not valid JSON${position === undefined ? '' : ` ${position}`}`);
  }
}

/**
 * Refuses text that cannot be stored, `__proto__` and too much nesting, anywhere in `root`.
 * @param path how the message names `root`, such as `body` or `querystring`
 */
export function checkValue(root: unknown, path: string): void {
  const pending: { value: unknown; path: string; depth: number }[] = [{ value: root, path, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, path: at, depth } = next;
    if (typeof value === 'string') checkText(value, at);
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= DEEPEST) throw new ValidationFailed(`${path} must not be nested more than ${DEEPEST} levels deep`);
    for (const [name, inner] of Object.entries(value)) {
      checkName(name, at);
      if (typeof inner === 'string') {
        if (!isStorable(inner)) checkText(inner, `${at}/${shown(name)}`);
      } else if (typeof inner === 'object' && inner !== null) {
        pending.push({ value: inner, path: `${at}/${shown(name)}`, depth: depth + 1 });
      }
    }
  }
}

function checkName(name: string, path: string): void {
  if (name === '__proto__') throw new ValidationFailed(`${path}/__proto__ is not allowed`);
  if (!isStorable(name)) throw new ValidationFailed(`${path} has a field whose name holds U+0000 or a lone surrogate`);
}

function checkText(text: string, path: string): void {
  if (!isStorable(text)) throw new ValidationFailed(`${path} must not contain U+0000 or lone surrogates`);
}

/** PostgreSQL's text and jsonb take neither U+0000 nor half a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function shown(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name;
}
