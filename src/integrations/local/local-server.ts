import type { Clock } from '../../platform/clock/index.js';
import type { ChildProcess, ProcessEnd } from '../../platform/processes/index.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { failureOfEnd } from './process-transport.js';

export interface LocalServerParts {
  readonly clock: Clock;
  readonly spawn: () => Promise<ChildProcess>;
  /** The process has ended. */
  readonly onGone: (server: LocalServer) => void;
  /** The connection is open. */
  readonly onReady: (server: LocalServer) => void;
  /** The connection failed, or the process ended by itself after `ranMs`. */
  readonly onFailure: (server: LocalServer, failure: McpFailure, ranMs: number) => void;
}

/** The process of one integration, from the attempt to connect to its end. */
export class LocalServer {
  /** Why it failed or ended by itself. */
  failure: McpFailure | undefined;
  /** Monotonic time. */
  lastUsed: number;
  private child: ChildProcess | undefined;
  private state: 'connecting' | 'running' | 'ending' = 'connecting';
  private calls = 0;
  private since = 0;
  private ended: Promise<void> | undefined;

  constructor(
    readonly endpoint: ProcessEndpoint,
    private readonly parts: LocalServerParts,
  ) {
    this.lastUsed = parts.clock.monotonic();
  }

  /** Whether it runs and no call uses it. */
  get isIdle(): boolean {
    return this.state === 'running' && this.calls === 0;
  }

  get isEnding(): boolean {
    return this.state === 'ending';
  }

  /** Starts the process, or a second one if the first exited during the handshake. @throws McpFailure */
  async spawn(): Promise<ChildProcess> {
    const child = await this.parts.spawn();
    if (this.isEnding) {
      await child.kill();
      throw new McpFailure('process', 'The local server was ended while it started.');
    }
    this.child = child;
    void child.ended.then((end) => this.endedByItself(child, end));
    return child;
  }

  /** Call when the connection is open. */
  ready(): void {
    if (this.state !== 'connecting') return;
    this.state = 'running';
    this.lastUsed = this.since = this.parts.clock.monotonic();
    this.parts.onReady(this);
  }

  /** Another server cannot take its place until `work` is done. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.calls += 1;
    this.lastUsed = this.parts.clock.monotonic();
    try {
      return await work();
    } finally {
      this.calls -= 1;
      this.lastUsed = this.parts.clock.monotonic();
    }
  }

  /** Call when the connection failed: ends the process and delays the next start. */
  fail(failure: McpFailure): void {
    if (this.isEnding) return;
    this.failure = failure;
    this.parts.onFailure(this, failure, 0);
    this.leave(() => this.child?.kill());
  }

  /** Ends the process; repeated calls share one end. Never rejects. */
  end(): Promise<void> {
    this.leave(() => this.child?.close());
    return this.ended ?? Promise.resolve();
  }

  private endedByItself(child: ChildProcess, end: ProcessEnd): void {
    // During the handshake the connector handles an exit.
    if (this.state !== 'running' || child !== this.child) return;
    this.failure = failureOfEnd(end);
    this.parts.onFailure(this, this.failure, this.parts.clock.monotonic() - this.since);
    this.leave(() => undefined);
  }

  private leave(end: () => Promise<void> | undefined): void {
    if (this.ended) return;
    this.state = 'ending';
    this.ended = Promise.resolve(end()).finally(() => this.parts.onGone(this));
  }
}
