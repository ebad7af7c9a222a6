import { isConnectionHeader, isHeaderFieldValue, isHeaderName } from '../../platform/egress/index.js';
import type { IntegrationAuth } from './integration.js';

export const MAX_HEADERS = 50;
export const HEADER_NAME_LENGTH = { min: 1, max: 255 } as const;
export const HEADER_VALUE_LENGTH = { min: 1, max: 8_192 } as const;

/** What MCP says in them is not the customer's to say. */
const OF_THE_PROTOCOL = new Set([
  ...['content-type', 'accept', 'last-event-id'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
]);

/** What is wrong with the name of a header, to be read after it; undefined when nothing is. */
export function headerNameFault(name: string): string | undefined {
  if (name.length > HEADER_NAME_LENGTH.max || !isHeaderName(name)) {
    return `must be an HTTP header name of 1 to ${HEADER_NAME_LENGTH.max} characters`;
  }
  if (isConnectionHeader(name) || isProtocolHeader(name.toLowerCase())) return 'is a header that cannot be set';
  return undefined;
}

function isProtocolHeader(lower: string): boolean {
  return OF_THE_PROTOCOL.has(lower) || lower.startsWith('mcp-param-');
}

/** Whether a header can carry the value. */
export function isHeaderValue(value: unknown): value is string {
  const { max } = HEADER_VALUE_LENGTH;
  return typeof value === 'string' && value.length <= max && isHeaderFieldValue(value);
}

/**
 * What is wrong with the authentication beside these headers, as the field of the body and what to say of it;
 * undefined when nothing is.
 */
export function authFault(auth: IntegrationAuth, names: readonly string[]): string | undefined {
  if (auth.type === 'static' && headerNamed(auth.headerKey, names) === undefined) {
    return 'auth/headerKey must be the name of an entry of httpHeaders';
  }
  if (auth.type !== 'oauth') return undefined;
  const authorization = headerNamed('authorization', names);
  return authorization && `httpHeaders/${authorization} cannot be set with auth of the type oauth`;
}

/** The spelling that the headers have for a name. */
export function headerNamed(name: string, names: readonly string[]): string | undefined {
  return names.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
}
