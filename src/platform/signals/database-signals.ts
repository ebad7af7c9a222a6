import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import type { SqlExecutor } from '../database/index.js';
import type { Logger } from '../telemetry/index.js';
import { Signals } from './signals.js';
import { listen, NOTIFY } from './signals.sql.js';

const CONNECT_MS = 2_000;
const RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/** Over `notify` of PostgreSQL, with one connection of its own that listens. */
export class DatabaseSignals {
  readonly signals: Signals;
  private readonly stopped = new AbortController();
  private client: pg.Client | undefined;
  private failures = 0;

  /** @param url of the server itself: a pooler of transactions loses `listen` */
  constructor(
    database: SqlExecutor,
    private readonly url: string,
    private readonly processName: string,
    private readonly logger: Logger,
  ) {
    this.signals = new Signals((text) => NOTIFY.run(database, { text }));
  }

  /** Listens until `close`, over a new connection whenever one is lost. */
  async listen(): Promise<void> {
    for (;;) {
      const error = await this.untilLost();
      if (this.stopped.signal.aborted) return;
      if (this.failures === 0) this.logger.warn({ err: error }, 'Signals of other processes cannot be received');
      const pause = Math.min(RETRY_MS * 2 ** Math.min(this.failures, 10), MAX_RETRY_MS);
      this.failures += 1;
      // In real time, because it spares the network.
      await setTimeout(pause, undefined, { signal: this.stopped.signal, ref: false }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.stopped.abort();
    await this.client?.end().catch(() => undefined);
  }

  /** @returns why the connection was lost, or could not be opened */
  private async untilLost(): Promise<unknown> {
    const client = new pg.Client({
      connectionString: this.url,
      fallback_application_name: `${this.processName} signals`,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    this.client = client;
    const lost = new Promise<unknown>((resolve) => {
      client.on('error', resolve);
      client.on('end', () => resolve(new Error('The connection was closed')));
    });
    client.on('notification', ({ payload = '' }) => this.signals.receive(payload));
    try {
      await client.connect();
      await listen(client);
      this.failures = 0;
      return await lost;
    } catch (error) {
      return error;
    } finally {
      client.end().catch(() => undefined);
    }
  }
}
