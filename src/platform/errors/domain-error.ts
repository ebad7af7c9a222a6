/** What a caller can do about an error; `platform/http` maps each kind to one HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'unprocessable'
  | 'rate_limited'
  | 'bad_gateway'
  | 'unavailable'
  | 'gateway_timeout'
  | 'internal';

export interface ErrorWording {
  /** Stable, machine-readable; clients branch on it. */
  readonly code?: string;
  /** Replaces the status class in the wire field `error` (route-specific causes). */
  readonly error?: string;
  /** The body is `{error, message}` alone, without `statusCode` and `code`. */
  readonly bare?: boolean;
  /** Further public fields of the body, such as `names`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Sent as `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /** For the log only; may name internals, never a secret. */
  readonly detail?: string;
  readonly cause?: unknown;
}

/**
 * The one error that crosses a context's public API. `message` is public: it says what was wrong and what
 * is allowed. Everything that must not leave the process goes into `detail` or `cause`.
 */
export class DomainError extends Error {
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly bare: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
  readonly detail: string | undefined;

  constructor(
    readonly kind: ErrorKind,
    message: string,
    wording: ErrorWording = {},
  ) {
    super(message, wording.cause === undefined ? undefined : { cause: wording.cause });
    this.name = new.target.name;
    this.code = wording.code;
    this.error = wording.error;
    this.bare = wording.bare ?? false;
    this.extra = wording.extra ?? {};
    this.retryAfterSeconds = wording.retryAfterSeconds;
    this.detail = wording.detail;
  }
}

/** A value that breaks the interface's schema; `message` names the field. */
export class ValidationFailed extends DomainError {
  constructor(message: string) {
    super('invalid', message, { code: 'FST_ERR_VALIDATION' });
  }
}
