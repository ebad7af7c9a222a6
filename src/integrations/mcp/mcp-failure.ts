import { DomainError } from '../../platform/errors/index.js';

export type McpFailureReason =
  /** No connection, or the server's answer is an HTTP error. */
  | 'unreachable'
  /** The address is not allowed. */
  | 'refused'
  | 'timeout'
  | 'needs_authorization'
  /** More than is taken of one answer. */
  | 'too_large'
  /** The answer is no MCP. */
  | 'protocol'
  /** The server knows the connection no more; nothing was done, and another connection may serve. */
  | 'session_lost'
  /** A local server cannot be started, or there are too many. */
  | 'process';

/** A tool server does not do its part. `message` is public, for the model and for the integration's `error`. */
export class McpFailure extends DomainError {
  constructor(
    readonly reason: McpFailureReason,
    message: string,
    facts: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super(reason === 'timeout' ? 'gateway_timeout' : 'bad_gateway', message, facts);
  }
}
