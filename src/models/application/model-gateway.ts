import { Inject, Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';
import type { ModelEvent, ModelRuntime } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ModelOptions, type ModelRequest, type ProviderType } from '../providers/index.js';
import { apiOf, requestTo } from '../providers/lookup.js';
import { CheckedCall } from './checked-call.js';
import { managedAccess } from './managed-providers.js';
import { withoutBlankText } from './without-blank-text.js';

/** The runtime of each provider; in demo mode the sandbox stands in for all of them. */
export type ModelRuntimes = ReadonlyMap<ProviderType, ModelRuntime<ModelOptions>>;

/** Injects `ModelRuntimes`. */
export const MODEL_RUNTIMES = Symbol('MODEL_RUNTIMES');

/** The way to every model. */
@Injectable()
export class ModelGateway {
  /** The providers that agents without a key of their own can run on. */
  private readonly managed: ReadonlySet<ProviderType>;

  constructor(
    @Inject(MODEL_RUNTIMES) private readonly runtimes: ModelRuntimes,
    settings: Settings,
  ) {
    const managed = MODEL_PROVIDERS.filter(
      (each) => settings.demo || managedAccess(settings, each).apiKey !== undefined,
    );
    this.managed = new Set(managed.map(({ type }) => type));
  }

  /**
   * Runs one model call on the provider whose API has the model of `request.options`, with the request's own key or else
   * the operator's. Refusals before the first event are tried again here, at most twice.
   *
   * Iterate to the end: the last event is `stopped`, or the iteration throws a `ModelFailure`, or the
   * signal's reason after an abort. Leaving early closes the provider's connection. Counts of tokens that no call
   * can have are told as null.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const api = apiOf(request.options.type, request.model);
    const runtime = this.runtimes.get(api.type);
    if (runtime === undefined) throw new Error(`Unknown provider: ${request.options.type}`);
    const events = runtime.stream(withoutBlankText(requestTo(api, request)), signal);
    return { [Symbol.asyncIterator]: () => new CheckedCall(events[Symbol.asyncIterator]()) };
  }

  /** Whether a call could be made at all: the agent has a key of its own, or the operator has one for the provider. */
  canRun(agent: { readonly provider: ProviderType; readonly model: string; readonly hasOwnKey: boolean }): boolean {
    return agent.hasOwnKey || this.managed.has(apiOf(agent.provider, agent.model).type);
  }
}
