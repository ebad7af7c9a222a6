/** The kinds of errors, with their HTTP status. */
export const ERROR_STATUS = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  unprocessable: 422,
  rate_limited: 429,
  bad_gateway: 502,
  unavailable: 503,
  gateway_timeout: 504,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof ERROR_STATUS;

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
 * The only kind of error that crosses a context's public API. `message` is public: it states what was wrong and what is allowed.
 * Internal information belongs into `detail` or `cause`.
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

/** A value that violates the schema of the interface; `message` names the field. */
export class ValidationFailed extends DomainError {
  constructor(message: string) {
    super('invalid', message, { code: 'FST_ERR_VALIDATION' });
  }
}
