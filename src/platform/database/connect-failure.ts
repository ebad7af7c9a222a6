import { InvalidSetting } from '../config/index.js';
import { codeOf, messageOf } from '../errors/index.js';

const NO_SUCH_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME']);

/** Why the first connection to the server failed, as the line that the operator reads. It does not contain the password. */
export function connectFailure(
  error: unknown,
  setting: 'DATABASE_URL' | 'DATABASE_DIRECT_URL',
  url: string,
): InvalidSetting {
  return new InvalidSetting(`${setting}: ${explain(firstOf(error), URL.parse(url)?.host ?? '')}`, { cause: error });
}

function explain({ code, message }: { readonly code: string; readonly message: string }, host: string): string {
  if (NO_SUCH_HOST.has(code)) return `${host} cannot be resolved to an address`;
  switch (code) {
    case 'ECONNREFUSED':
      return `nothing listens at ${host}`;
    case '28P01':
    case '28000':
      return `the server does not let this user in: ${message}`;
    case '3D000':
      return `${message}; make it first`;
    default:
      return `the database cannot be used: ${message}`;
  }
}

/** The error of a name with several addresses has one error for each, and no message itself. */
function firstOf(error: unknown): { readonly code: string; readonly message: string } {
  const { errors } = Object(error) as { readonly errors?: readonly unknown[] };
  if (errors?.[0] !== undefined) return firstOf(errors[0]);
  return { code: codeOf(error) ?? '', message: messageOf(error) };
}
