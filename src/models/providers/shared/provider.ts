import { z } from 'zod';
import type { Feature } from '../../../access/index.js';
import type { Clock } from '../../../platform/clock/index.js';
import { storedObject } from '../../../platform/stored-json/index.js';
import type { CatalogueModel } from '../../domain/catalogue-model.js';
import type { ModelRuntime, ProviderOptions } from '../../domain/model-runtime.js';
import type { OwnKeyRules } from './own-key.js';
import type { ProviderAccess } from './provider-call.js';
import type { ModelTransport } from './transport.js';

/** The field of a request that chooses the model, for every provider. */
export interface ModelChoice {
  readonly model?: string;
}

/** Look a provider up by the type of the options that you pass: its methods accept only options of its own type, which the compiler cannot check. */
export interface Provider<Options extends ProviderOptions, Request extends ProviderOptions = Options> {
  /** `provider.type` of its agents; stored, so it never changes. */
  readonly type: Options['type'];
  /** The feature that an organization needs for such agents; absent if every organization may have them. */
  readonly feature?: Feature;
  readonly ownKey: OwnKeyRules;
  /** The response components that its agents can show, by the names of their switches. */
  readonly responseComponents: 'all' | readonly string[];
  /** Strongest first, the order in error messages. Exactly one is the default. */
  readonly models: readonly CatalogueModel[];
  readonly settings: ProviderSettings<Options, Request>;
  /** The largest `timeoutMinutes` of its agents, if it is smaller than that of other agents. */
  readonly maxTimeoutMinutes?: number;
  /** Knowledge searches of its agents always use the default `semanticWeight`. */
  readonly fixedSemanticWeight?: true;
}

/** The settings that a provider adds to its agents. */
export interface ProviderSettings<Options, Request = Options> {
  /** Reads settings that any release has stored: each field except `type` has a default. */
  readonly stored: z.ZodObject & z.ZodType<Options>;
  readonly initial: Options;
  /** Settings for a fast response: the least thinking that the model allows, and no search. */
  readonly quick: Options;
  /** The settings after a change; fields that are absent from the request stay unchanged. */
  merge(current: Options, request: Request): Options;
  /** The settings as responses and versions show them, beside type, model and `useOwnApiKey`. */
  describe(options: Options): Readonly<Record<string, unknown>>;
  /** Switches on the provider's own web search; absent if it has none. */
  withWebSearch?(options: Options): Options;
}

export function withoutSettings<const Type extends string>(type: Type): ProviderSettings<{ readonly type: Type }> {
  const none = { type };
  return {
    stored: storedObject({ type: z.literal(type) }),
    initial: none,
    quick: none,
    merge: (current) => current,
    describe: () => ({}),
  };
}

export interface ApiProvider<
  Options extends ProviderOptions,
  Request extends ProviderOptions = Options,
> extends Provider<Options, Request> {
  runtime(): Promise<new (access: ProviderAccess, transport: ModelTransport, clock: Clock) => ModelRuntime<Options>>;
  readonly keyPrefixes: readonly string[];
  /** Prefix of the operator's settings: `<name>_API_KEY` and `<name>_BASE_URL`, which replaces the public address. */
  readonly environment: string;
  /** Its `gen_ai.provider.name` in OpenTelemetry. */
  readonly telemetryName: string;
  /** The last part of a gateway's URL for this provider; absent if gateways do not forward its requests. */
  readonly gatewayPath?: string;
  readonly refusedMediaTypes: readonly string[];
}
