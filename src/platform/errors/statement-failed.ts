/*
 * PostgreSQL quotes rows and parameters in the messages, details and contexts of its errors, and the ORM puts them into its own.
 * They are texts of users, so no error of a database may carry them to a log, a stored job or an operator's screen.
 */

/** The states of errors whose messages name parts of the schema or the server, and never a value. */
const MESSAGES_WITHOUT_VALUES =
  /^(?:08|23|25|28|3D|3F|40|53|55|57|58|F0|XX00[12])|^42(?:501|701|703|704|710|883|P01|P07)$/;
/** A function's own `raise`, whose text may have anything. */
const RAISED = 'exec_stmt_raise';
const NAMES = ['schema', 'table', 'column', 'dataType', 'constraint', 'routine'] as const;
/** Characters of a statement that are read: the pattern's stack would not hold a literal of millions. */
const MAX_READ = 10_000;
const MAX_STATEMENT_LENGTH = 500;

export type StatementFacts = Readonly<Partial<Record<(typeof NAMES)[number] | 'statement', string>>>;

/** A statement that the database refused, or that did not reach it, without the values of rows and parameters. */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed';

  constructor(
    message: string,
    /** The SQLSTATE, or the code of the connection's error. */
    readonly code: string | undefined,
    /** What an operator needs: the names of what is concerned, and the statement without values. */
    readonly facts: StatementFacts,
    frames: string,
  ) {
    super(message);
    if (frames !== '') this.stack = `${this.name}: ${message}\n${frames}`;
  }

  get constraint(): string | undefined {
    return this.facts.constraint;
  }
}

interface DriverError extends Error {
  readonly code?: unknown;
  readonly query?: unknown;
}

/**
 * A `StatementFailed` for an error of the database, its driver or the ORM; every other error as it is.
 * @param sql the statement; by default the one that the driver attached
 */
export function withoutValues(error: unknown, sql?: string): unknown {
  if (!isOfDatabase(error)) return error;
  const { code: given, query, message } = error;
  const code = typeof given === 'string' ? given : undefined;
  const named = factsOf(error);
  const isRaised = named.routine === RAISED;
  const isHarmless = isOfServer(error) && !isRaised && code !== undefined && MESSAGES_WITHOUT_VALUES.test(code);
  const text = sql ?? (typeof query === 'string' ? query : undefined);
  return new StatementFailed(
    isHarmless ? message : `The database or its driver refused a statement (${code ?? nameOf(error)})`,
    code,
    {
      ...(isRaised ? { routine: RAISED } : named),
      ...(text === undefined ? {} : { statement: withoutLiterals(text) }),
    },
    // Where the statement is known, this error is made where the statement was sent.
    sql === undefined ? framesOf(error) : '',
  );
}

/** By their shape, since they come from several copies of the driver, and may be of another realm. */
function isOfDatabase(error: unknown): error is DriverError {
  if (typeof error !== 'object' || error === null || error instanceof StatementFailed) return false;
  return isOfOrm(error) || isOfServer(error);
}

/** The ORM adds details and statements to the messages. */
function isOfOrm(error: object): boolean {
  return 'sqlState' in error || 'getEntity' in error;
}

function isOfServer(error: object): boolean {
  return 'severity' in error && 'code' in error && 'routine' in error && !isOfOrm(error);
}

function factsOf(error: object): StatementFacts {
  const has = error as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = has[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

function nameOf({ constructor }: object): string {
  return constructor.name;
}

/** None when the message has several lines, which could look like frames. */
function framesOf({ message, stack = '' }: Error): string {
  if (message.includes('\n')) return '';
  return stack
    .split('\n')
    .slice(1)
    .filter((line) => /^ {4}at /.test(line))
    .join('\n');
}

/** A literal may end with the text, at any character, because long texts are cut. */
const LITERALS =
  /\bE'(?:[^'\\]|\\[^]?|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|\$(\w*)\$[^]*?(?:\$\1\$|$)|(?<![\w$."])\d+(?:\.\d+)?/gi;

/** The statement with `?` in place of its literals, since the ORM writes parameters into it. */
export function withoutLiterals(sql: string): string {
  const text = sql.slice(0, MAX_READ).replace(LITERALS, '?').replace(/\s+/g, ' ').trim();
  const isWhole = sql.length <= MAX_READ && text.length <= MAX_STATEMENT_LENGTH;
  return isWhole ? text : `${text.slice(0, MAX_STATEMENT_LENGTH)}...`;
}
