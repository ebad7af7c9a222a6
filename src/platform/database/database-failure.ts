import { DomainError } from '../errors/index.js';

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/**
 * connection_exception, insufficient_resources (disk full, too many connections), operator_intervention, query_canceled (the server
 * or this process's timer of the same length ends a statement at its time limit).
 */
const UNAVAILABLE_STATES = ['08', '53', '57P', '57014'];
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Query read timeout|connection is closed/i;

/** The database does not respond; the caller may retry. */
export class DatabaseUnavailable extends DomainError {
  constructor(cause: unknown) {
    super('unavailable', 'The service cannot reach its database. Try again shortly.', { retryAfterSeconds: 2, cause });
  }
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value;
}

function* causes(error: unknown): Generator<Error & { code?: unknown; constraint?: unknown }> {
  // Not `instanceof`, which is false for errors of another realm, such as a socket's inside a sandbox.
  for (let current = error; isErrorLike(current); current = current.cause ?? previous(current)) yield current;
}

/** MikroORM keeps the driver's error in `previous` instead of `cause`. */
function previous(error: Error): unknown {
  return 'previous' in error ? error.previous : undefined;
}

function sqlState(error: unknown): string | undefined {
  for (const { code } of causes(error)) if (typeof code === 'string') return code;
  return undefined;
}

export function isDeadlock(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40P01' || state === '40001';
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  for (const link of causes(error)) {
    if (link.code === '23505') return constraint === undefined || link.constraint === constraint;
  }
  return false;
}

export function isForeignKeyViolation(error: unknown): boolean {
  return sqlState(error) === '23503';
}

/** The error to throw: `DatabaseUnavailable` if the database is unreachable, otherwise the given one. */
export function databaseFailure(error: unknown): unknown {
  for (const { code, message } of causes(error)) {
    const state = typeof code === 'string' ? code : '';
    if (CONNECTION_ERRORS.has(state) || UNAVAILABLE_STATES.some((prefix) => state.startsWith(prefix))) {
      return new DatabaseUnavailable(error);
    }
    if (CONNECTION_MESSAGES.test(message)) return new DatabaseUnavailable(error);
  }
  return error;
}
