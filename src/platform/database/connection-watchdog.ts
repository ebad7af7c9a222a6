import pg, { type Pool } from 'pg';
import { PreparingClient } from './preparing-client.js';

export interface WatchdogTimes {
  /** A statement that waits this long while no connection receives anything causes a probe. */
  readonly silenceMs: number;
  /** A server that does not respond to a new connection within this time counts as unreachable. */
  readonly probeMs: number;
  /** Pause between two probes, because a slow statement may take long. */
  readonly pauseMs: number;
  /** A connection whose statement takes longer is closed; for servers that do not know this limit. */
  readonly limitMs?: number;
}

/** The message of the driver's error for a connection that took too long. */
const CONNECT_TIMEOUT = 'timeout expired';
const CHECK_MS = 200;
export const OF_REQUESTS: WatchdogTimes = { silenceMs: 700, probeMs: 1_000, pauseMs: 1_000 };

/**
 * Detects a server that has gone silent (a lost network, a stopped machine), as opposed to a slow statement. Without a reset of the
 * connection only the limit of the longest statement would end the wait. Statements on a silent server fail as if their
 * connection had been closed.
 */
export class ConnectionWatchdog {
  private readonly clients = new Set<PreparingClient>();
  private readonly timer: NodeJS.Timeout;
  private receivedAt = performance.now();
  private probedAt = -Infinity;

  constructor(
    pool: Pool,
    private readonly url: string,
    private readonly times: WatchdogTimes = OF_REQUESTS,
    /** The server past the pooler: a pooler that responds does not show that the server does. */
    private readonly directUrl: string = url,
  ) {
    pool.on('connect', (client) => {
      if (client instanceof PreparingClient) this.add(client);
    });
    pool.on('remove', (client) => {
      if (client instanceof PreparingClient) this.clients.delete(client);
    });
    this.timer = setInterval(() => void this.check(), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private add(client: PreparingClient): void {
    this.clients.add(client);
    this.receivedAt = performance.now();
    client.on('drain', () => {
      this.receivedAt = performance.now();
    });
  }

  private async check(): Promise<void> {
    const now = performance.now();
    const { silenceMs, pauseMs } = this.times;
    this.endLongStatements(now);
    if (now - this.probedAt < pauseMs || now - this.receivedAt < silenceMs) return;
    const isWaiting = [...this.clients].some(({ busySince }) => busySince !== undefined && now - busySince > silenceMs);
    if (!isWaiting) return;
    this.probedAt = now;
    const probes = [...new Set([this.url, this.directUrl])].map((url) => this.responds(url));
    if ((await Promise.all(probes)).every(Boolean) || this.receivedAt > now) return;
    // Idle connections too: the next statement on each would wait in the same way.
    for (const client of this.clients) client.breakOff();
  }

  private endLongStatements(now: number): void {
    const { limitMs = Infinity } = this.times;
    for (const client of this.clients) if (now - (client.busySince ?? now) > limitMs) client.breakOff();
  }

  /** Any response, including a refusal, shows that the server is reachable. */
  private async responds(url: string): Promise<boolean> {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: this.times.probeMs });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      return !(error instanceof Error && error.message === CONNECT_TIMEOUT);
    }
    void client.end().catch(() => undefined);
    return true;
  }
}
