import { type Clock, untilAborted } from '../../platform/clock/index.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';

export interface ConnectionKey {
  readonly organizationId: string;
  readonly integrationId: string;
  /** Of everything that the connection was made with: revision and credentials. Connections of another one are not used again. */
  readonly version: string;
}

/** Makes a connection. The signal is the pool's: one who asked and went away does not end it for the others. */
export type OpenConnection = (signal: AbortSignal) => Promise<McpConnection>;

interface Policy {
  readonly clock: Clock;
  readonly idleMs: number;
  /** Nobody used it for `idleMs`, or since it was retired. */
  readonly onIdle: (entry: PooledConnection) => void;
  readonly onFailure: (entry: PooledConnection, error: unknown) => void;
}

/** A connection of the pool from the moment it is wanted, with those who use it. */
export class PooledConnection {
  private readonly life = new AbortController();
  private readonly opening: Promise<McpConnection>;
  private readonly openedAt: number;
  private opened: McpConnection | undefined;
  private users = 0;
  private isRetired = false;
  private cancelIdle: () => void = () => undefined;
  /** By the clock's `monotonic`. */
  lastUsed: number;

  constructor(
    readonly key: ConnectionKey,
    open: OpenConnection,
    private readonly policy: Policy,
  ) {
    this.openedAt = policy.clock.monotonic();
    this.lastUsed = this.openedAt;
    this.opening = this.open(open);
    // Whoever waits for it is told; perhaps nobody does any more.
    this.opening.catch(() => undefined);
  }

  get isIdle(): boolean {
    return this.users === 0;
  }

  get isClosed(): boolean {
    return this.life.signal.aborted;
  }

  isUsable(version: string, maxAgeMs: number): boolean {
    const { clock } = this.policy;
    const isGone = this.isClosed || this.isRetired || this.opened?.closed === true;
    return !isGone && this.key.version === version && clock.monotonic() - this.openedAt < maxAgeMs;
  }

  acquire(): void {
    this.users += 1;
    this.cancelIdle();
  }

  /** @param counts whether the connection was not idle until now */
  release(counts: boolean): void {
    const { clock, idleMs, onIdle } = this.policy;
    this.users -= 1;
    const now = clock.monotonic();
    if (counts) this.lastUsed = now;
    if (this.users > 0 || this.isClosed) return;
    if (this.isRetired) onIdle(this);
    else this.cancelIdle = clock.after(Math.max(0, this.lastUsed + idleMs - now), () => onIdle(this));
  }

  retire(): void {
    this.isRetired = true;
  }

  /** @throws McpFailure; the signal's reason, while the connection is opened for the others all the same */
  connection(signal: AbortSignal): Promise<McpConnection> {
    return this.opened ? Promise.resolve(this.opened) : untilAborted(this.opening, signal);
  }

  /** At once, whoever uses it. Resolves when the server was told. */
  async close(): Promise<void> {
    this.cancelIdle();
    this.life.abort(new McpFailure('unreachable', 'The connection was closed.'));
    const connection = await this.opening.catch(() => undefined);
    await connection?.close();
  }

  private async open(open: OpenConnection): Promise<McpConnection> {
    try {
      this.opened = await open(this.life.signal);
      return this.opened;
    } catch (error) {
      if (!this.isClosed) this.policy.onFailure(this, error);
      throw error;
    }
  }
}
