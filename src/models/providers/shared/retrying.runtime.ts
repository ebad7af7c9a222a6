import type { Clock } from '../../../platform/clock/index.js';
import { ModelFailure } from '../../domain/model-failure.js';
import type { ModelEvent, RuntimeRequest, ModelRuntime } from '../../domain/model-runtime.js';
import { MAX_RETRIES, MAX_RETRY_AFTER_SECONDS, RETRY_BASE_MS } from './limits.js';

/** Loads the runtime, and the SDK with it, for the first request: the SDKs are a seventh of all modules of the process. Repeats a call that failed before
 * its first event. The pause doubles with each attempt, and half of it is random; a longer `Retry-After` replaces it. */
export class RetryingRuntime implements ModelRuntime {
  private runtime: Promise<ModelRuntime> | undefined;

  constructor(
    private readonly load: () => Promise<ModelRuntime>,
    private readonly clock: Clock,
    /** Returns uniformly distributed numbers from 0 to 1. */
    private readonly random: () => number,
  ) {}

  async *stream(request: RuntimeRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const runtime = await (this.runtime ??= this.load());
    signal.throwIfAborted();
    for (let attempt = 1; ; attempt += 1) {
      let hasAnswered = false;
      try {
        for await (const event of runtime.stream(request, signal)) {
          hasAnswered = true;
          yield event;
        }
        return;
      } catch (error) {
        if (hasAnswered || !(error instanceof ModelFailure) || !error.facts.retryable) throw error;
        const { retryAfterSeconds = 0 } = error.facts;
        if (attempt > MAX_RETRIES || retryAfterSeconds > MAX_RETRY_AFTER_SECONDS) throw error;
        const backoff = RETRY_BASE_MS * 2 ** (attempt - 1) * (0.5 + this.random() / 2);
        await this.clock.sleep(Math.max(retryAfterSeconds * 1000, backoff), signal);
      }
    }
  }
}
