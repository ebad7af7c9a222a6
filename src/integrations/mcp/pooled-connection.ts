import { type Clock, untilAborted } from '../../platform/clock/index.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';

export interface ConnectionKey {
  readonly organizationId: string;
  readonly integrationId: string;
  /** Identifies the revision and credentials of the connection. Connections of another version are not used again. */
  readonly version: string;
}

/** Opens a connection. The signal is the pool's: a caller that aborts does not abort the connection that others share. */
export type OpenConnection = (signal: AbortSignal) => Promise<McpConnection>;

interface Policy {
  readonly clock: Clock;
  readonly idleMs: number;
  /** It was not used for `idleMs`, or its last use after it was retired has ended. */
  readonly onIdle: (entry: PooledConnection) => void;
  readonly onFailure: (entry: PooledConnection, error: unknown) => void;
}

/** A connection of the pool, from its opening, with the number of its users. */
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
    // Callers of `connection` get the error. There may be none any more.
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
    const isOver = this.isClosed || this.isRetired || this.opened?.closed === true;
    return !isOver && this.key.version === version && clock.monotonic() - this.openedAt < maxAgeMs;
  }

  acquire(): void {
    this.users += 1;
    this.cancelIdle();
  }

  /** @param isBackground whether the use does not extend the time until the connection is idle */
  release(isBackground: boolean): void {
    const { clock, idleMs, onIdle } = this.policy;
    this.users -= 1;
    const now = clock.monotonic();
    if (!isBackground) this.lastUsed = now;
    if (this.users > 0 || this.isClosed) return;
    if (this.isRetired) onIdle(this);
    else this.cancelIdle = clock.after(Math.max(0, this.lastUsed + idleMs - now), () => onIdle(this));
  }

  retire(): void {
    this.isRetired = true;
  }

  /** @throws McpFailure; the signal's reason, which does not end the opening */
  connection(signal: AbortSignal): Promise<McpConnection> {
    return this.opened ? Promise.resolve(this.opened) : untilAborted(this.opening, signal);
  }

  /** Closes it even while it is used. Resolves when the server's session has ended. */
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
