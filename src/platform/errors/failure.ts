/*
 * These functions check the shape of errors, because `instanceof` fails for errors of another realm, which Node may throw.
 */

export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** The first line of an error's message, for the operator. */
export function messageOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  const [line = ''] = String(message).split('\n');
  return line;
}
