import { Inject, Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/index.js';
import type { ModelEvent, ModelRuntime } from '../domain/model-runtime.js';
import { MODEL_PROVIDERS, type ModelOptions, type ModelRequest, type ProviderType } from '../providers/index.js';
import { apiOf, requestTo } from '../providers/lookup.js';
import { plausibleEvents } from './plausible-events.js';
import { withoutBlankText } from './without-blank-text.js';

/** The runtime of each provider; in demo mode the sandbox for all of them. */
export type ModelRuntimes = ReadonlyMap<ProviderType, ModelRuntime<ModelOptions>>;

/** Injects `ModelRuntimes`. */
export const MODEL_RUNTIMES = Symbol('MODEL_RUNTIMES');

/** Makes every model call of the service. */
@Injectable()
export class ModelGateway {
  /** The providers that the operator has a key for; in demo mode all of them. */
  private readonly managed: ReadonlySet<ProviderType>;

  constructor(
    @Inject(MODEL_RUNTIMES) private readonly runtimes: ModelRuntimes,
    settings: Settings,
  ) {
    const managed = MODEL_PROVIDERS.filter(
      ({ environment }) => settings.demo || settings.managedProvider(environment).apiKey !== undefined,
    );
    this.managed = new Set(managed.map(({ type }) => type));
  }

  /**
   * Makes one model call on the provider whose API has the model of `request.options`, with the key of the request or else
   * the operator's. A call that is refused before its first event is repeated, at most twice.
   *
   * The last event is `stopped`; otherwise the iteration throws a `ModelFailure`, or the signal's reason after an abort.
   * Leaving the iteration early closes the connection to the provider. Implausible token counts are replaced by null.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const api = apiOf(request.options.type, request.model);
    const runtime = this.runtimes.get(api.type);
    if (runtime === undefined) throw new Error(`Unknown provider: ${request.options.type}`);
    return plausibleEvents(runtime.stream(withoutBlankText(requestTo(api, request)), signal));
  }

  /** Whether there is a key for the agent's calls: its own, or the operator's for the provider. */
  canRun(agent: { readonly provider: ProviderType; readonly model: string; readonly hasOwnKey: boolean }): boolean {
    return agent.hasOwnKey || this.managed.has(apiOf(agent.provider, agent.model).type);
  }
}
