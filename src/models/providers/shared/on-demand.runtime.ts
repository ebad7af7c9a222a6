import type { ModelEvent, ModelRuntime, RuntimeRequest } from '../../domain/model-runtime.js';

/** Loads a runtime, and the SDK with it, for its first request: the SDKs are a seventh of all modules of the process. */
export class OnDemandRuntime implements ModelRuntime {
  private loading: Promise<ModelRuntime> | undefined;

  constructor(private readonly load: () => Promise<ModelRuntime>) {}

  async *stream(request: RuntimeRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    this.loading ??= this.load();
    const runtime = await this.loading;
    yield* runtime.stream(request, signal);
  }
}
