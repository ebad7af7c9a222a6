import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import type { ModelEvent, ModelRuntime } from '../domain/model-runtime.js';
import { plausibleUsage } from '../domain/model-usage.js';
import { MODEL_PROVIDERS, type ModelProvider, type ModelRequest, type ProviderType } from '../providers/index.js';
import { apiOf, requestTo } from '../providers/lookup.js';
import { SandboxRuntime } from '../providers/sandbox/sandbox.runtime.js';
import { RetryingRuntime } from '../providers/shared/retrying.runtime.js';
import { ModelTransport } from '../providers/shared/transport.js';
import { withoutBlankText } from './without-blank-text.js';

/** Makes every model call of the service. */
@Injectable()
export class ModelGateway {
  private readonly runtimes: ReadonlyMap<ProviderType, ModelRuntime>;
  /** The providers that the operator has a key for; in demo mode all of them. */
  private readonly managed: ReadonlySet<ProviderType>;

  constructor(
    private readonly settings: Settings,
    private readonly transport: ModelTransport,
    private readonly clock: Clock,
  ) {
    const sandbox = settings.demo ? new SandboxRuntime(clock) : undefined;
    this.runtimes = new Map(MODEL_PROVIDERS.map((provider) => [provider.type, sandbox ?? this.runtimeOf(provider)]));
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

  private runtimeOf(provider: ModelProvider): ModelRuntime {
    const { apiKey, baseUrl } = this.settings.managedProvider(provider.environment);
    const load = async (): Promise<ModelRuntime> => {
      const Runtime = await provider.runtime();
      return new Runtime({ managedKey: apiKey, baseUrl }, this.transport, this.clock);
    };
    return new RetryingRuntime(load, this.clock, () => secureRandomBytes(4).readUInt32BE() / 2 ** 32);
  }
}

/** Replaces implausible token counts and names by null: the service sums up, charges and stores what a provider or gateway reports. */
async function* plausibleEvents(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  for await (const event of events) yield plausible(event);
}

function plausible(event: ModelEvent): ModelEvent {
  if (event.type === 'usage' || event.type === 'stopped') return { ...event, usage: plausibleUsage(event.usage) };
  if (event.type !== 'response') return event;
  const { id, model } = event.response;
  return { type: 'response', response: { id: plausibleName(id), model: plausibleName(model) } };
}

/** In characters; longer than any id or model name of the providers. */
const MAX_NAME_LENGTH = 256;

/** @param name of any type and length: the JSON of the provider has not been checked */
function plausibleName(name: unknown): string | null {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME_LENGTH ? name : null;
}
