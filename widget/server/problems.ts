/** A failure that the operator of the handler has to know of. The visitor gets only a status and a general sentence. */
export class WidgetServerError extends Error {
  /** Status of the service's response; 0 if there was none. */
  readonly status: number;
  /** The service's code, such as `forbidden_by_key_role`; null if there is none. */
  readonly code: string | null;

  constructor(message: string, { status = 0, code = null, cause }: WidgetServerErrorDetails = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'WidgetServerError';
    this.status = status;
    this.code = code;
  }
}

interface WidgetServerErrorDetails {
  readonly status?: number;
  readonly code?: string | null;
  readonly cause?: unknown;
}

/** Ends a request with an error response. Everything in it is for the browser. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** After a failure that may be over soon. */
export const RETRY_SECONDS = '5';
const UNAVAILABLE = 'The chat is not available at the moment.';

export function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message);
}

/** The same for unknown conversations and for those of other visitors. */
export function notFound(): Refusal {
  return new Refusal(404, 'not_found', 'There is no such conversation.');
}

/** For mistakes in the operator's own code. */
export function internal(): Refusal {
  return new Refusal(500, 'internal', UNAVAILABLE);
}

/** For failures of the service, and for refusals of the API key. */
export function badGateway(): Refusal {
  return new Refusal(502, 'service_failed', UNAVAILABLE);
}

export function unavailable(status: 429 | 503, code: string, retryAfter: string | null): Refusal {
  return new Refusal(status, code, UNAVAILABLE, retryAfter === null ? {} : { 'retry-after': retryAfter });
}
