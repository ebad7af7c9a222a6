import { withoutValues } from './statement-failed.js';

/*
 * These functions check the shape of errors, because `instanceof` fails for errors of another realm, which Node may throw.
 */

export function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** The first line of an error's message, for the operator; without values of rows. */
export function messageOf(thrown: unknown): string {
  const error = withoutValues(thrown);
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  const [line = ''] = String(message).split('\n');
  return line;
}

const FULL = ['ENOSPC', 'EDQUOT'];

/** Whether an error, or one that caused it, says that a disk or a quota is full. The embedded database has it in its message only. */
export function isDiskFull(error: unknown): boolean {
  if (!(typeof error === 'object' && error !== null)) return false;
  if (FULL.includes(codeOf(error) ?? '') || /no space left on device/i.test(messageOf(error))) return true;
  return 'cause' in error && isDiskFull(error.cause);
}
