import { AsyncLocalStorage } from 'node:async_hooks';
import type { McpFailure } from './mcp-failure.js';

/**
 * One message to the server and its possible answer. The SDK's transports keep neither the error of an interrupted answer nor the
 * caller's abort. The exchange keeps both, and the fetch that the transport calls finds it as `currentExchange`.
 */
export class Exchange {
  readonly ended = new AbortController();
  /** The answer is an event stream, which may continue after the answer. */
  streams = false;
  /** Why its stream was interrupted. The transport may resume it with another stream. */
  interruption: McpFailure | undefined;
  private readonly outcome = Promise.withResolvers<undefined>();

  /** @param method undefined for messages without an answer, such as notifications */
  constructor(readonly method?: string) {
    // The failure may come when no caller waits any more.
    this.settled.catch(() => undefined);
  }

  /** Resolves when the exchange is over, rejects with its failure. */
  get settled(): Promise<undefined> {
    return this.outcome.promise;
  }

  get isRequest(): boolean {
    return this.method !== undefined;
  }

  /** The answer has arrived. Its stream may continue. */
  answered(): void {
    this.outcome.resolve(undefined);
  }

  /** Its stream was interrupted. The request fails if it would be in vain to resume the stream. */
  interrupted(failure: McpFailure): void {
    this.interruption = failure;
    if (failure.reason === 'too_large' || failure.reason === 'timeout') this.fail(failure);
  }

  fail(failure: McpFailure): void {
    this.outcome.reject(failure);
    this.ended.abort(failure);
  }

  /** The caller does not wait any more. */
  end(): void {
    this.outcome.resolve(undefined);
    this.ended.abort();
  }
}

/** The exchange in which the current code runs. */
export const currentExchange = new AsyncLocalStorage<Exchange>();
