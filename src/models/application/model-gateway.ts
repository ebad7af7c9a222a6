import { Inject, Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';
import type { ModelEvent, ModelRequest, ModelRuntime } from '../domain/model-runtime.js';
import type { ProviderType } from '../domain/provider-type.js';

/** The runtime of each provider; in demo mode the sandbox stands in for all of them. */
export type ModelRuntimes = Readonly<Record<ProviderType, ModelRuntime>>;

/** Injects `ModelRuntimes`. */
export const MODEL_RUNTIMES = Symbol('MODEL_RUNTIMES');

/** The way to every model. */
@Injectable()
export class ModelGateway {
  constructor(
    @Inject(MODEL_RUNTIMES) private readonly runtimes: ModelRuntimes,
    private readonly settings: Settings,
  ) {}

  /**
   * Runs one model call on the provider that `request.options` names, with the request's own key or else
   * the operator's. Refusals before the first event are tried again here, at most twice.
   *
   * Iterate to the end: the last event is `stopped`, or the iteration throws a `ModelFailure`, or the
   * signal's reason after an abort. Leaving early closes the provider's connection.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    return this.runtimes[request.options.type].stream(request, signal);
  }

  /** Whether a call could be made at all: the agent has a key of its own, or the operator has one for the provider. */
  canRun(agent: { readonly provider: ProviderType; readonly hasOwnKey: boolean }): boolean {
    return this.settings.demo || agent.hasOwnKey || managedProvider(this.settings, agent.provider).apiKey !== undefined;
  }
}

/** The operator's settings for one provider. */
export function managedProvider(settings: Settings, provider: ProviderType): Settings['anthropic'] {
  switch (provider) {
    case 'anthropic':
      return settings.anthropic;
    case 'openai-responses':
      return settings.openai;
    case 'gemini':
      return settings.gemini;
    default:
      return provider satisfies never;
  }
}
