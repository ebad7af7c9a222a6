import { DomainError, withoutValues } from '../errors/index.js';

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
]);
/** A prepared statement is unknown or already there: a pooler executes on another connection than the one that has it. */
const LOST_STATEMENT_STATES = ['26000', '42P05'];
/**
 * connection_exception, read_only_sql_transaction (the server has become a standby), insufficient_resources (disk full, too many connections), operator_intervention, query_canceled (the server
 * or this process's timer of the same length ends a statement at its time limit).
 */
const UNAVAILABLE_STATES = ['08', '25006', '53', '57P', '57014', ...LOST_STATEMENT_STATES];
/** The pool's own, when all its connections are taken. */
const NO_CONNECTION = /timeout exceeded when trying to connect/i;
const CONNECTION_MESSAGES =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Query read timeout|connection is closed/i;

/** The database does not respond; the caller may retry. */
export class DatabaseUnavailable extends DomainError {
  constructor(cause: unknown) {
    super('unavailable', 'The service cannot reach its database. Try again shortly.', { retryAfterSeconds: 2, cause });
  }

  /** Whether the statement may have had its effect all the same: it was sent, and its answer did not come. */
  get mayHaveExecuted(): boolean {
    for (const { code, message } of causes(this.cause))
      if (code === CONNECT_FAILED || NO_CONNECTION.test(message)) return false;
    return true;
  }
}

/** `sqlclient_unable_to_establish_sqlconnection`, which the ORM and `withoutValues` keep. */
const CONNECT_FAILED = '08001';

/** No connection was made, for any reason: a refused login, a database that takes no connections, TLS, the network. */
export class ConnectFailed extends Error {
  readonly code = CONNECT_FAILED;

  constructor(cause: unknown) {
    super('The database accepts no connection', { cause: withoutValues(cause) });
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

/** A lock was not free within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}

export function isUndefinedColumn(error: unknown): boolean {
  return sqlState(error) === '42703';
}

/** A table of this name exists. */
export function isDuplicateTable(error: unknown): boolean {
  return sqlState(error) === '42P07';
}

export function isUndefinedTable(error: unknown): boolean {
  return sqlState(error) === '42P01';
}

/** The statement was not executed, because its name means nothing, or something else, on this connection. */
export function isStatementLost(error: unknown): boolean {
  return LOST_STATEMENT_STATES.includes(sqlState(error) ?? '');
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

/**
 * The error to throw, which has no values of rows and parameters: `DatabaseUnavailable` if the database is unreachable,
 * otherwise the given one.
 */
export function databaseFailure(error: unknown): unknown {
  for (const { code, message } of causes(error)) {
    const state = typeof code === 'string' ? code : '';
    if (CONNECTION_ERRORS.has(state) || UNAVAILABLE_STATES.some((prefix) => state.startsWith(prefix))) {
      return new DatabaseUnavailable(withoutValues(error));
    }
    if (CONNECTION_MESSAGES.test(message)) return new DatabaseUnavailable(withoutValues(error));
  }
  return withoutValues(error);
}
