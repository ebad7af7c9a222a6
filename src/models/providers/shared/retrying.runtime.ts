import type { Clock } from '../../../platform/clock/index.js';
import { ModelFailure } from '../../domain/model-failure.js';
import type { ModelEvent, RuntimeRequest, ModelRuntime } from '../../domain/model-runtime.js';
import { MAX_RETRIES, MAX_RETRY_AFTER_SECONDS, RETRY_BASE_MS } from './limits.js';

/**
 * Tries a call again that the provider refused before it sent anything; once an event is out, a failure
 * is the caller's. The wait doubles with each try and is half random; `Retry-After` makes it longer, and
 * a provider that asks for more than is worth waiting is not asked again.
 */
export class RetryingRuntime implements ModelRuntime {
  constructor(
    private readonly runtime: ModelRuntime,
    private readonly clock: Clock,
    /** Uniform in 0 to 1. */
    private readonly random: () => number,
  ) {}

  stream(request: RuntimeRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    return {
      [Symbol.asyncIterator]: () => new RetriedCall(() => this.attempt(request, signal), this.waiter(signal)),
    };
  }

  private attempt(request: RuntimeRequest, signal: AbortSignal): AsyncIterator<ModelEvent> {
    return this.runtime.stream(request, signal)[Symbol.asyncIterator]();
  }

  private waiter(signal: AbortSignal): (failure: ModelFailure, tries: number) => Promise<void> {
    return async (failure, tries) => {
      const asked = failure.facts.retryAfterSeconds ?? 0;
      if (tries > MAX_RETRIES || asked > MAX_RETRY_AFTER_SECONDS) throw failure;
      const backoff = RETRY_BASE_MS * 2 ** (tries - 1) * (0.5 + this.random() / 2);
      await this.clock.sleep(Math.max(asked * 1000, backoff), signal);
    };
  }
}

/** Not a generator: past the first event it hands out the inner call's own promises, at no cost a token. */
class RetriedCall implements AsyncIterator<ModelEvent> {
  private current: AsyncIterator<ModelEvent> | undefined;
  private over = false;

  constructor(
    private readonly attempt: () => AsyncIterator<ModelEvent>,
    private readonly wait: (failure: ModelFailure, tries: number) => Promise<void>,
  ) {}

  next(): Promise<IteratorResult<ModelEvent>> {
    if (this.over) return Promise.resolve({ done: true, value: undefined });
    return this.current === undefined ? this.first() : this.current.next();
  }

  async return(): Promise<IteratorResult<ModelEvent>> {
    this.over = true;
    await this.current?.return?.();
    return { done: true, value: undefined };
  }

  private async first(): Promise<IteratorResult<ModelEvent>> {
    for (let tries = 1; ; tries += 1) {
      const call = this.attempt();
      try {
        const event = await call.next();
        this.current = call;
        return event;
      } catch (error) {
        this.over = true;
        if (!(error instanceof ModelFailure) || !error.facts.retryable) throw error;
        await this.wait(error, tries);
        this.over = false;
      }
    }
  }
}
