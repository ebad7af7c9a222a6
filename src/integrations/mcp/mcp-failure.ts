import { DomainError } from '../../platform/errors/index.js';

export type McpFailureReason =
  /** No connection, or the server's answer is an HTTP error. */
  | 'unreachable'
  /** The address is not allowed. */
  | 'refused'
  | 'timeout'
  | 'needs_authorization'
  /** An answer exceeds a limit. */
  | 'too_large'
  /** The answer is not valid MCP. */
  | 'protocol'
  /** The server has ended the session and has done nothing; another connection may work. */
  | 'session_lost'
  /** A local server cannot be started, or there are too many. */
  | 'process';

/** A tool server failed. `message` is public: the model and readers of the integration's `error` see it. */
export class McpFailure extends DomainError {
  constructor(
    readonly reason: McpFailureReason,
    message: string,
    facts: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super(reason === 'timeout' ? 'gateway_timeout' : 'bad_gateway', message, facts);
  }
}
