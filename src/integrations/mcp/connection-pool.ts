import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../platform/clock/index.js';
import type { McpConnection } from './mcp-connection.js';
import { McpFailure } from './mcp-failure.js';
import { FAILURE_MS, IDLE_MS, MAX_AGE_MS, MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ORGANIZATION } from './mcp-limits.js';
import { type ConnectionKey, type OpenConnection, PooledConnection } from './pooled-connection.js';

export interface PoolLimits {
  readonly connections: number;
  readonly perOrganization: number;
}

export interface ConnectionUse<Result> {
  readonly key: ConnectionKey;
  readonly open: OpenConnection;
  readonly work: (connection: McpConnection) => Promise<Result>;
  readonly signal: AbortSignal;
  /** The use does not keep an idle connection open, however often the server causes it. */
  readonly isBackground?: boolean;
}

interface RecentFailure {
  readonly version: string;
  readonly failure: McpFailure;
  readonly until: number;
}

/**
 * Open connections, at most one per integration, shared by its concurrent calls and never by two integrations. The pool closes an
 * idle connection after `IDLE_MS`, or earlier when another one needs its place.
 */
export class ConnectionPool implements OnApplicationShutdown {
  private readonly entries = new Map<string, PooledConnection>();
  /** Replaced connections that calls still use. */
  private readonly retired = new Set<PooledConnection>();
  /** By integration, oldest first. */
  private readonly failures = new Map<string, RecentFailure>();
  private isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly limits: PoolLimits = {
      connections: MAX_CONNECTIONS,
      perOrganization: MAX_CONNECTIONS_PER_ORGANIZATION,
    },
  ) {}

  /** The number of connections that are open or being opened. */
  get size(): number {
    return this.entries.size + this.retired.size;
  }

  /** Of the connections that are open or being opened. */
  get integrationIds(): string[] {
    return [...new Set(this.all().map(({ key }) => key.integrationId))];
  }

  /**
   * Runs `work` with the integration's connection, and opens it if there is none. If the server has ended the session, it has done
   * nothing, and `work` runs once more with a new connection.
   * @throws McpFailure, also that of an attempt to connect within the last `FAILURE_MS`, except to a local server; what `work` throws; the signal's reason
   */
  async use<Result>(use: ConnectionUse<Result>): Promise<Result> {
    try {
      return await this.useOnce(use);
    } catch (error) {
      if (!(error instanceof McpFailure) || error.reason !== 'session_lost') throw error;
      return this.useOnce(use);
    }
  }

  /** Whether the next call would find a connection. */
  has(integrationId: string): boolean {
    return this.entries.has(integrationId);
  }

  /** Makes the next use open another connection, despite a recent failure. Calls that use the present one can end. */
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

  private async useOnce<Result>(use: ConnectionUse<Result>): Promise<Result> {
    const { key, open, work, signal, isBackground = false } = use;
    signal.throwIfAborted();
    const entry = this.entryFor(key, open);
    entry.acquire();
    try {
      return await work(await entry.connection(signal));
    } catch (error) {
      if (error instanceof McpFailure && error.reason === 'session_lost') this.retire(entry);
      throw error;
    } finally {
      entry.release(isBackground);
    }
  }

  private entryFor(key: ConnectionKey, open: OpenConnection): PooledConnection {
    if (this.isClosed) throw new McpFailure('unreachable', 'The service is stopping.');
    const entry = this.entries.get(key.integrationId);
    if (entry?.isUsable(key.version, MAX_AGE_MS) === true) return entry;
    if (entry) this.retire(entry);
    this.throwRecentFailure(key);
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
    // A local server has pauses of its own, which a kept failure would extend.
    if (!(error instanceof McpFailure) || error.reason === 'process') return;
    const { integrationId, version } = entry.key;
    // Deleted first, so that it becomes the newest entry.
    this.failures.delete(integrationId);
    this.failures.set(integrationId, { version, failure: error, until: this.clock.monotonic() + FAILURE_MS });
  }

  private throwRecentFailure({ integrationId, version }: ConnectionKey): void {
    const now = this.clock.monotonic();
    for (const [id, { until }] of this.failures) {
      if (until > now) break;
      this.failures.delete(id);
    }
    const recent = this.failures.get(integrationId);
    if (recent?.version === version) throw recent.failure;
  }

  private makeRoom(organizationId: string): void {
    const ofOrganization = this.all().filter(({ key }) => key.organizationId === organizationId);
    if (ofOrganization.length >= this.limits.perOrganization) this.closeLeastRecentlyUsed(ofOrganization);
    if (this.size >= this.limits.connections) this.closeLeastRecentlyUsed(this.all());
  }

  private closeLeastRecentlyUsed(entries: readonly PooledConnection[]): void {
    const [oldest] = entries.filter(({ isIdle }) => isIdle).sort((a, b) => a.lastUsed - b.lastUsed);
    if (!oldest) throw new McpFailure('unreachable', 'Too many tool servers are in use at the moment.');
    void this.remove(oldest);
  }

  /** New calls do not get it, and it is closed when its last call ends. */
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
