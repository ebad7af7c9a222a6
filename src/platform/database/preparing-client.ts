import { Client, type ClientConfig } from 'pg';

/** Far more than the service has; texts beyond it (made up while running) are sent unprepared. */
const MAX_PREPARED = 1_000;

const names = new Map<string, string>();

/** The name under which every connection knows a text; undefined for one too many. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

const { query: sendQuery } = Client.prototype as { query: (this: Client, ...parameters: unknown[]) => unknown };

/**
 * A connection that prepares each statement with parameters once and then only runs it: parsing and
 * planning the statements of a run costs PostgreSQL as much as executing them.
 */
export class PreparingClient extends Client {
  /** Since when the server owes an answer, in milliseconds of `performance.now()`; undefined while it owes none. */
  busySince: number | undefined;

  constructor(options?: ClientConfig) {
    super(options);
    this.on('drain', () => {
      this.busySince = undefined;
    });
  }

  /** Closes the connection without a word to the server; what waits for an answer fails. */
  breakOff(): void {
    this.connection.stream.destroy();
  }

  // The overloads of `pg` (texts, configurations, callbacks, cursors) come through one implementation.
  override query = ((...parameters: unknown[]) => {
    this.busySince ??= performance.now();
    const [text, values, ...rest] = parameters;
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const sent = name === undefined ? parameters : [{ name, text, values }, ...rest];
    return sendQuery.apply(this, sent);
  }) as Client['query'];
}
