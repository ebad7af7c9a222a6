/** The form of providers' error codes, which matches no sentence. */
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{1,63}$/;

/**
 * The codes in a provider's error, for the log: its sentences may quote prompts and keys.
 * @param text the body, or the message that an SDK made of it
 * @returns empty if there are none
 */
export function codesIn(text: string): string {
  const [body] = [parse(text.slice(Math.max(0, text.search(/[[{]/))))].flat();
  const error = fieldsOf(fieldsOf(body)['error'] ?? body);
  return codesOf(error['type'], error['code'], error['status']);
}

/** The values that have the form of a code. */
export function codesOf(...values: readonly unknown[]): string {
  const codes = values.filter((value): value is string => typeof value === 'string' && CODE.test(value));
  return [...new Set(codes)].join(' ');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
