import { HttpException, HttpStatus } from '@nestjs/common';
import { DomainError, ERROR_STATUS, ValidationFailed } from '../errors/index.js';

/** An error as the client gets it. */
export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The largest `Retry-After`, in seconds. */
const MAX_RETRY_AFTER = 3_600;

/** Replace messages of the framework that are too vague or quote the request. */
const FRAMEWORK_MESSAGES: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: 'The path is not valid: its percent-encoding does not decode to UTF-8.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'The content type of the body is not supported here; send application/json.',
  FST_ERR_CTP_BODY_TOO_LARGE: 'The request body is larger than this route accepts.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as its Content-Length says.',
};

const VALIDATION_CODE = 'FST_ERR_VALIDATION';

/** The response to any error that a handler, guard, hook, pipe or the framework throws. */
export function toWireError(error: unknown): WireError {
  if (error instanceof DomainError) return fromDomain(error);
  const fault = frameworkFault(error) ?? (error instanceof HttpException ? frameworkFault(error.cause) : undefined);
  if (fault) return fromFramework(fault);
  if (error instanceof HttpException) return fromHttpException(error);
  return internalError();
}

/** The wire field `error` of a status, such as `payload_too_large`. */
export function statusClass(status: number): string {
  if (status === 500) return 'Internal Server Error';
  // `HttpStatus` lacks this one.
  if (status === 431) return 'request_header_fields_too_large';
  return HttpStatus[status]?.toLowerCase() ?? (status > 500 ? 'server_error' : 'bad_request');
}

/** The general body. */
export function generalError(status: number, message: string, code?: string): WireError {
  return {
    status,
    headers: {},
    body: { statusCode: status, ...(code && { code }), error: statusClass(status), message },
  };
}

export function unknownRoute(method: string, url: string): WireError {
  return generalError(404, `There is no route ${method} ${pathOf(url)}.`);
}

/** The path without the query, which may contain a credential; at most 200 characters. */
export function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? '';
  return path.length > 200 ? `${path.slice(0, 200)}...` : path;
}

function fromDomain(error: DomainError): WireError {
  const status = ERROR_STATUS[error.kind];
  const cause = error.error ?? statusClass(status);
  const { retryAfterSeconds: wait } = error;
  return {
    status,
    headers:
      wait === undefined ? {} : { 'retry-after': String(Math.min(Math.max(Math.ceil(wait), 1), MAX_RETRY_AFTER)) },
    body: {
      ...(!error.bare && { statusCode: status, ...(error.code !== undefined && { code: error.code }) }),
      error: cause,
      message: error.message,
      ...error.extra,
    },
  };
}

interface FrameworkFault extends Error {
  readonly code: string;
  readonly statusCode: number;
}

/** A Fastify error about the request. Other errors with a `statusCode` may be responses of an upstream. */
function frameworkFault(error: unknown): FrameworkFault | undefined {
  if (!(error instanceof Error) || error.name !== 'FastifyError') return undefined;
  const { code, statusCode } = error as Partial<FrameworkFault>;
  const blamesRequest = code !== undefined && statusCode !== undefined && statusCode >= 400 && statusCode < 500;
  return blamesRequest ? (error as FrameworkFault) : undefined;
}

function fromFramework({ code, statusCode, message }: FrameworkFault): WireError {
  return generalError(statusCode, FRAMEWORK_MESSAGES[code] ?? message, statusCode === 400 ? VALIDATION_CODE : code);
}

function fromHttpException(error: HttpException): WireError {
  const status = error.getStatus();
  if (status === 500) return internalError();
  if (status === 400) return fromDomain(new ValidationFailed(error.message));
  return generalError(status, error.message);
}

function internalError(): WireError {
  const message = 'The request could not be completed. Its x-request-id leads to the cause in the service log.';
  return { status: 500, headers: {}, body: { statusCode: 500, error: statusClass(500), message } };
}
