import type { Clock } from '../../platform/clock/index.js';
import type { ChildProcess, ProcessEnd } from '../../platform/processes/index.js';
import type { ProcessEndpoint } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { failureOfEnd } from './process-transport.js';

export interface LocalServerParts {
  readonly endpoint: ProcessEndpoint;
  readonly clock: Clock;
  readonly spawn: () => Promise<ChildProcess>;
  /** It does not run any more, and takes no place. */
  readonly onGone: (server: LocalServer) => void;
  /** It has been connected to. */
  readonly onReady: (server: LocalServer) => void;
  /** It did not start, or ended by itself. */
  readonly onFailure: (server: LocalServer, failure: McpFailure, ranMs: number) => void;
}

/** The process of one integration. It is connected to first, then runs, until it ends or is ended. */
export class LocalServer {
  private child: ChildProcess | undefined;
  private state: 'connecting' | 'running' | 'ending' = 'connecting';
  private calls = 0;
  private used: number;
  private since = 0;
  private ended: Promise<void> | undefined;
  private reason: McpFailure | undefined;

  constructor(private readonly parts: LocalServerParts) {
    this.used = parts.clock.monotonic();
  }

  get endpoint(): ProcessEndpoint {
    return this.parts.endpoint;
  }

  get lastUsed(): number {
    return this.used;
  }

  /** Runs, and nobody waits for it. */
  get idle(): boolean {
    return this.state === 'running' && this.calls === 0;
  }

  get ending(): boolean {
    return this.state === 'ending';
  }

  /** Why it ended by itself. */
  get failure(): McpFailure | undefined {
    return this.reason;
  }

  /** Starts the process; a further time where it ended while it was connected to. @throws McpFailure */
  async spawn(): Promise<ChildProcess> {
    const child = await this.parts.spawn();
    if (this.ending) {
      await child.kill();
      throw new McpFailure('process', 'The local server was ended while it started.');
    }
    this.child = child;
    void child.ended.then((end) => this.endedByItself(child, end));
    return child;
  }

  /** It has been connected to. */
  ready(): void {
    if (this.state !== 'connecting') return;
    this.state = 'running';
    this.used = this.since = this.parts.clock.monotonic();
    this.parts.onReady(this);
  }

  /** Keeps it from being ended for a newcomer until `work` is done. */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    this.calls += 1;
    this.used = this.parts.clock.monotonic();
    try {
      return await work();
    } finally {
      this.calls -= 1;
      this.used = this.parts.clock.monotonic();
    }
  }

  /** It was connected to in vain: it is ended, and not started again at once. */
  fail(failure: McpFailure): void {
    if (this.ending) return;
    this.reason = failure;
    this.parts.onFailure(this, failure, 0);
    this.leave(() => this.child?.kill());
  }

  /** Ends it; the same for everybody who asks. Never rejects. */
  end(): Promise<void> {
    this.leave(() => this.child?.close());
    return this.ended ?? Promise.resolve();
  }

  private endedByItself(child: ChildProcess, end: ProcessEnd): void {
    // While it is connected to, the one who connects decides what that means.
    if (this.state !== 'running' || child !== this.child) return;
    this.reason = failureOfEnd(end);
    this.parts.onFailure(this, this.reason, this.parts.clock.monotonic() - this.since);
    this.leave(() => undefined);
  }

  private leave(end: () => Promise<void> | undefined): void {
    if (this.ended) return;
    this.state = 'ending';
    this.ended = Promise.resolve(end()).finally(() => this.parts.onGone(this));
  }
}
