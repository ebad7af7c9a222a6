import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../platform/clock/index.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';
import { FAILURE_MS, IDLE_MS, MAX_AGE_MS, MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ORGANIZATION } from './mcp-limits.js';
import { type ConnectionKey, type OpenConnection, PooledConnection } from './pooled-connection.js';

export type { ConnectionKey } from './pooled-connection.js';

export interface PoolLimits {
  readonly connections: number;
  readonly perOrganization: number;
}

/** One who wants a connection. */
interface Use<Result> {
  readonly key: ConnectionKey;
  readonly open: OpenConnection;
  readonly work: (connection: McpConnection) => Promise<Result>;
  readonly signal: AbortSignal;
  /** Whether the connection is not idle because of it. */
  readonly counts: boolean;
}

interface RememberedFailure {
  readonly version: string;
  readonly failure: McpFailure;
  readonly until: number;
}

/**
 * Open connections, at most one for each integration, shared by its concurrent calls and never by two integrations. An idle one
 * is closed after `IDLE_MS`, or earlier where another one needs its place.
 */
export class ConnectionPool implements OnApplicationShutdown {
  private readonly entries = new Map<string, PooledConnection>();
  /** Replaced while calls still had them. */
  private readonly retired = new Set<PooledConnection>();
  private readonly failures = new Map<string, RememberedFailure>();
  private isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly limits: PoolLimits = {
      connections: MAX_CONNECTIONS,
      perOrganization: MAX_CONNECTIONS_PER_ORGANIZATION,
    },
  ) {}

  /** Those that are open or being opened. */
  get size(): number {
    return this.entries.size + this.retired.size;
  }

  /** Of those that are open or being opened. */
  get integrationIds(): string[] {
    return [...new Set(this.all().map(({ key }) => key.integrationId))];
  }

  /**
   * Runs `work` with the integration's connection, which is opened where there is none. When the server knows the connection no
   * more, nothing was done: `work` runs once again with a new one.
   * @throws McpFailure, also the one that connecting failed with within the last `FAILURE_MS`, unless it was a local server's; what `work` throws; the signal's reason
   */
  use<Result>(
    key: ConnectionKey,
    open: OpenConnection,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.onceOrTwice({ key, open, work, signal, counts: true });
  }

  /** As `use`, for what no call needs: it puts off nothing that is closed when idle, whatever a server has done often. */
  look<Result>(
    key: ConnectionKey,
    open: OpenConnection,
    work: (connection: McpConnection) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.onceOrTwice({ key, open, work, signal, counts: false });
  }

  /** Whether the integration has a connection that the next call would take. */
  has(integrationId: string): boolean {
    return this.entries.has(integrationId);
  }

  /** From now on another connection is used, whatever became of earlier attempts; the present one ends with its calls. */
  renew(integrationId: string): void {
    this.failures.delete(integrationId);
    const entry = this.entries.get(integrationId);
    if (entry) this.retire(entry);
  }

  /** Closes the integration's connections, also those in use. */
  drop(integrationId: string): void {
    this.failures.delete(integrationId);
    for (const entry of this.all()) if (entry.key.integrationId === integrationId) void this.remove(entry);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.all().map((entry) => this.remove(entry)));
  }

  private async onceOrTwice<Result>(use: Use<Result>): Promise<Result> {
    try {
      return await this.once(use);
    } catch (error) {
      if (!(error instanceof McpFailure) || error.reason !== 'session_lost') throw error;
      return this.once(use);
    }
  }

  private async once<Result>({ key, open, work, signal, counts }: Use<Result>): Promise<Result> {
    signal.throwIfAborted();
    const entry = this.entryFor(key, open);
    entry.acquire();
    try {
      return await work(await entry.connection(signal));
    } catch (error) {
      if (error instanceof McpFailure && error.reason === 'session_lost') this.retire(entry);
      throw error;
    } finally {
      entry.release(counts);
    }
  }

  private entryFor(key: ConnectionKey, open: OpenConnection): PooledConnection {
    if (this.isClosed) throw new McpFailure('unreachable', 'The service is stopping.');
    const entry = this.entries.get(key.integrationId);
    if (entry?.isUsable(key.version, MAX_AGE_MS) === true) return entry;
    if (entry) this.retire(entry);
    this.throwRemembered(key);
    this.makeRoom(key.organizationId);
    const opened = new PooledConnection(key, open, {
      clock: this.clock,
      idleMs: IDLE_MS,
      onIdle: (idle) => void this.remove(idle),
      onFailure: (failed, failure) => this.failed(failed, failure),
    });
    this.entries.set(key.integrationId, opened);
    return opened;
  }

  private failed(entry: PooledConnection, error: unknown): void {
    void this.remove(entry);
    // The error of a local server says when it may start again; a kept failure would delay that start.
    if (!(error instanceof McpFailure) || error.reason === 'process') return;
    const { integrationId, version } = entry.key;
    // Set anew, so that the first entry is the oldest.
    this.failures.delete(integrationId);
    this.failures.set(integrationId, { version, failure: error, until: this.clock.monotonic() + FAILURE_MS });
  }

  private throwRemembered({ integrationId, version }: ConnectionKey): void {
    const now = this.clock.monotonic();
    for (const [id, { until }] of this.failures) {
      if (until > now) break;
      this.failures.delete(id);
    }
    const remembered = this.failures.get(integrationId);
    if (remembered?.version === version) throw remembered.failure;
  }

  /** The idle connection that was used longest ago makes room, of the organization when it is the one that has too many. */
  private makeRoom(organizationId: string): void {
    const ofOrganization = this.all().filter(({ key }) => key.organizationId === organizationId);
    if (ofOrganization.length >= this.limits.perOrganization) this.closeOneOf(ofOrganization);
    if (this.size >= this.limits.connections) this.closeOneOf(this.all());
  }

  private closeOneOf(entries: readonly PooledConnection[]): void {
    const [oldest] = entries.filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUsed - b.lastUsed);
    if (!oldest) throw new McpFailure('unreachable', 'Too many tool servers are in use at the moment.');
    void this.remove(oldest);
  }

  /** Not handed out any more, and closed when its last call ends. */
  private retire(entry: PooledConnection): void {
    if (this.entries.get(entry.key.integrationId) === entry) this.entries.delete(entry.key.integrationId);
    if (entry.isIdle) {
      void this.remove(entry);
    } else if (!entry.isClosed) {
      this.retired.add(entry);
      entry.retire();
    }
  }

  private remove(entry: PooledConnection): Promise<void> {
    if (this.entries.get(entry.key.integrationId) === entry) this.entries.delete(entry.key.integrationId);
    this.retired.delete(entry);
    return entry.close();
  }

  private all(): PooledConnection[] {
    return [...this.entries.values(), ...this.retired];
  }
}
