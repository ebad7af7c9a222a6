import type { ModelEvent, ModelRuntime, RuntimeRequest } from '../../domain/model-runtime.js';

/**
 * Loads a runtime with its first request, and with it the SDK that it is made over: a process starts without those of
 * the providers that it never asks, which are a seventh of all its modules.
 */
export class OnDemandRuntime implements ModelRuntime {
  private loading: Promise<ModelRuntime> | undefined;
  private loaded: ModelRuntime | undefined;

  constructor(private readonly load: () => Promise<ModelRuntime>) {}

  stream(request: RuntimeRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    return this.loaded?.stream(request, signal) ?? this.streamOnceLoaded(request, signal);
  }

  /** Hands on each event; so not the way of later requests. */
  private async *streamOnceLoaded(request: RuntimeRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    this.loading ??= this.load();
    this.loaded = await this.loading;
    yield* this.loaded.stream(request, signal);
  }
}
