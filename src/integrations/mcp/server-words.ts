import { MAX_ERROR_TEXT } from './mcp-limits.js';
import { withoutSecrets } from './without-secrets.js';

/** Of a text of any size; more than is kept, as white space and secrets take less room in the end. */
const MAX_READ = 8 * MAX_ERROR_TEXT;
/** A secret that the end of what is read cuts off may leave less than this, which is not found. */
const CUT_OFF = 12;

/**
 * What a server says by itself (not the results of its tools) as others may read it: one line of at most `MAX_ERROR_TEXT`
 * characters, without what the server was told in confidence.
 */
export function serverWords(text: string, secrets: readonly string[]): string {
  const line = text.slice(0, MAX_READ).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  const open = withoutSecrets(line, secrets);
  const whole = text.length > MAX_READ ? open.slice(0, -CUT_OFF) : open;
  return [...whole.trim()].slice(0, MAX_ERROR_TEXT).join('').toWellFormed();
}
