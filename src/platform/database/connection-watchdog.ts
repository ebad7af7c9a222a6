import pg, { type Pool } from 'pg';
import { PreparingClient } from './preparing-client.js';

export interface Patience {
  /** A statement that waits for so long, while no other connection hears anything either, is a reason to ask. */
  readonly suspiciousMs: number;
  /** A server that does not say anything to a new connection within this time is away. */
  readonly answerMs: number;
  /** Between two questions: a statement may be slow with good reason, and for long. */
  readonly askAgainMs: number;
}

/** What the driver calls a connection that took too long. */
const NO_ANSWER = 'timeout expired';
const LOOK_MS = 200;
const OF_REQUESTS: Patience = { suspiciousMs: 700, answerMs: 1_000, askAgainMs: 1_000 };

/**
 * Tells a server that has gone silent (a lost network, a standing machine) from a slow statement: without
 * a reset nothing would end the wait for an answer but the limit of the longest statement. What waits on
 * a silent server fails as if its connection had been closed.
 */
export class ConnectionWatchdog {
  private readonly clients = new Set<PreparingClient>();
  private readonly timer: NodeJS.Timeout;
  private heardAt = performance.now();
  private askedAt = -Infinity;

  constructor(
    pool: Pool,
    private readonly url: string,
    private readonly patience: Patience = OF_REQUESTS,
  ) {
    pool.on('connect', (client) => {
      if (client instanceof PreparingClient) this.add(client);
    });
    pool.on('remove', (client) => {
      if (client instanceof PreparingClient) this.clients.delete(client);
    });
    this.timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private add(client: PreparingClient): void {
    this.clients.add(client);
    this.heardAt = performance.now();
    client.on('drain', () => {
      this.heardAt = performance.now();
    });
  }

  private async look(): Promise<void> {
    const now = performance.now();
    const { suspiciousMs, askAgainMs } = this.patience;
    if (now - this.askedAt < askAgainMs || now - this.heardAt < suspiciousMs) return;
    const waiting = [...this.clients].some(
      ({ busySince }) => busySince !== undefined && now - busySince > suspiciousMs,
    );
    if (!waiting) return;
    this.askedAt = now;
    if ((await this.answers()) || this.heardAt > now) return;
    // The idle ones too: the next statement on each would wait in the same way.
    for (const client of this.clients) client.breakOff();
  }

  /** Whatever the server says, a refusal included, shows that it is there. */
  private async answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: this.patience.answerMs });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      return !(error instanceof Error && error.message === NO_ANSWER);
    }
    void client.end().catch(() => undefined);
    return true;
  }
}
