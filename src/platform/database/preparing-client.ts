import { Client, type ClientConfig } from 'pg';

/** Far more than the service has; further texts (generated at run time) are sent unprepared. */
const MAX_PREPARED = 1_000;

const names = new Map<string, string>();

/** The name of the prepared statement of a text on every connection; undefined if there are too many. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}

const { query: sendQuery } = Client.prototype as { query: (this: Client, ...parameters: unknown[]) => unknown };

/**
 * A connection that prepares each statement with parameters once, because parsing and planning the statements of a run costs
 * PostgreSQL as much as executing them.
 */
export class PreparingClient extends Client {
  /** When the oldest statement without a response was sent, in milliseconds of `performance.now()`; undefined if there is none. */
  busySince: number | undefined;

  constructor(options?: ClientConfig) {
    super(options);
    this.on('drain', () => {
      this.busySince = undefined;
    });
  }

  /** Closes the connection without telling the server; statements without a response fail. */
  breakOff(): void {
    this.connection.stream.destroy();
  }

  // One implementation for all overloads of `pg` (texts, configurations, callbacks, cursors).
  override query = ((...parameters: unknown[]) => {
    this.busySince ??= performance.now();
    const [text, values, ...rest] = parameters;
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    const sent = name === undefined ? parameters : [{ name, text, values }, ...rest];
    return sendQuery.apply(this, sent);
  }) as Client['query'];
}
