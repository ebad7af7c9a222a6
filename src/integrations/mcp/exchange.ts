import { AsyncLocalStorage } from 'node:async_hooks';
import type { McpFailure } from './mcp-failure.js';

/**
 * One message on its way to the server, with the answer that may come. The SDK's transports keep neither the error of a broken
 * answer nor the abort of the one who waits for it; both are kept here, and found again by the fetch that they call.
 */
export class Exchange {
  readonly ended = new AbortController();
  /** Resolves when the exchange is over, rejects with what went wrong. */
  readonly settled: Promise<void>;
  /** The answer is an event stream, which may go on after it. */
  streams = false;
  /** What its stream broke off with; the transport may go on with another one. */
  interruption: McpFailure | undefined;
  private resolve: () => void = () => undefined;
  private reject: (failure: McpFailure) => void = () => undefined;

  constructor(
    /** Undefined for what is answered by nothing, such as a notification. */
    readonly method?: string,
  ) {
    this.settled = new Promise<void>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Nobody may be waiting any more.
    this.settled.catch(() => undefined);
  }

  get isRequest(): boolean {
    return this.method !== undefined;
  }

  /** The answer is there; what comes after it on its stream still arrives. */
  answered(): void {
    this.resolve();
  }

  /** Its stream broke off. A message that is too large would be too large again. */
  interrupted(failure: McpFailure): void {
    this.interruption = failure;
    if (failure.reason === 'too_large' || failure.reason === 'timeout') this.fail(failure);
  }

  fail(failure: McpFailure): void {
    this.reject(failure);
    this.ended.abort(failure);
  }

  /** Nobody waits any more. */
  end(): void {
    this.resolve();
    this.ended.abort();
  }
}

/** The exchange in which the current code runs. */
export const currentExchange = new AsyncLocalStorage<Exchange>();
