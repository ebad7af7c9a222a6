import { randomBytes } from 'node:crypto';
import { Client, type ClientConfig } from 'pg';
import { ConnectFailed } from './database-failure.js';

/** Far more than the service has; further texts (generated at run time) are sent unprepared. */
const MAX_PREPARED = 1_000;

/** The names of the prepared statements of this process, which are the same on all its connections. */
export class StatementNames {
  private readonly names = new Map<string, string>();
  /** Behind a pooler, another process's statement of the same name would be executed in place of this one's. */
  private readonly prefix = `${randomBytes(4).toString('hex')}_`;

  constructor(private isUsed: boolean) {}

  /** Undefined if the text is to be sent unprepared. */
  nameOf(text: string): string | undefined {
    if (!this.isUsed) return undefined;
    const known = this.names.get(text);
    if (known !== undefined || this.names.size >= MAX_PREPARED) return known;
    const name = `${this.prefix}${this.names.size}`;
    this.names.set(text, name);
    return name;
  }

  /** Names nothing from now on. */
  stop(): void {
    this.isUsed = false;
  }
}

const { query: sendQuery, connect } = Client.prototype as {
  query: (this: Client, ...parameters: unknown[]) => unknown;
  connect: (this: Client) => Promise<Client>;
};

/**
 * A connection that prepares each statement with parameters once if it has names for them, because parsing and planning the
 * statements of a run costs PostgreSQL as much as executing them.
 */
export class PreparingClient extends Client {
  protected readonly names: StatementNames | undefined;
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
    const name =
      typeof text === 'string' && Array.isArray(values) && values.length > 0 ? this.names?.nameOf(text) : undefined;
    const sent = name === undefined ? parameters : [{ name, text, values }, ...rest];
    return sendQuery.apply(this, sent);
  }) as Client['query'];
}

/** The class of the connections that share these names. */
export function preparingClient(names: StatementNames): typeof PreparingClient {
  return class extends PreparingClient {
    protected override readonly names = names;

    /** Whatever keeps a connection from being made is an outage: only here can it be told from a statement's error. */
    override connect = ((done?: (error: Error | null) => void) => {
      const connected = connect.call(this).catch((error: unknown) => {
        throw new ConnectFailed(error);
      });
      if (!done) return connected;
      connected.then(
        () => process.nextTick(done, null),
        (error: unknown) => process.nextTick(done, error),
      );
      return undefined;
    }) as Client['connect'];
  };
}
