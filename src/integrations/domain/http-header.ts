import { isConnectionHeader, isHeaderFieldValue, isHeaderName } from '../../platform/egress/index.js';
import type { IntegrationAuth } from './integration.js';

export const MAX_HEADERS = 50;
export const HEADER_NAME_LENGTH = { min: 1, max: 255 } as const;
export const HEADER_VALUE_LENGTH = { min: 1, max: 8_192 } as const;

/** The MCP client sets these headers itself. */
const PROTOCOL_HEADERS = new Set([
  ...['content-type', 'accept', 'last-event-id'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
]);

/** The error message for a header's name, which continues after the name; undefined if the name is valid. */
export function headerNameFault(name: string): string | undefined {
  if (name.length > HEADER_NAME_LENGTH.max || !isHeaderName(name)) {
    return `must be an HTTP header name of 1 to ${HEADER_NAME_LENGTH.max} characters`;
  }
  const lower = name.toLowerCase();
  const isProtocolHeader = PROTOCOL_HEADERS.has(lower) || lower.startsWith('mcp-param-');
  return isProtocolHeader || isConnectionHeader(name) ? 'is a header that cannot be set' : undefined;
}

/** Whether a header can carry the value. */
export function isHeaderValue(value: unknown): value is string {
  const { max } = HEADER_VALUE_LENGTH;
  return typeof value === 'string' && value.length <= max && isHeaderFieldValue(value);
}

/**
 * The error message for an authentication that contradicts the headers, starting with the field of the body; undefined if it is valid.
 */
export function authFault(auth: IntegrationAuth, names: readonly string[]): string | undefined {
  if (auth.type === 'static' && headerNamed(auth.headerKey, names) === undefined) {
    return 'auth/headerKey must be the name of an entry of httpHeaders';
  }
  if (auth.type !== 'oauth') return undefined;
  const authorization = headerNamed('authorization', names);
  return authorization && `httpHeaders/${authorization} cannot be set with auth of the type oauth`;
}

/** The name as the headers spell it. */
export function headerNamed(name: string, names: readonly string[]): string | undefined {
  return names.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
}
