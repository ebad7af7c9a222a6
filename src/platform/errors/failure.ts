/*
 * Errors are recognised by their shape: those that Node itself throws may be of another realm, whose classes
 * `instanceof` does not know.
 */

export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** The first line of an error's message, for the operator, who may see why something failed. */
export function messageOf(error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  const [line = ''] = String(message).split('\n');
  return line;
}
