import type { Type as NestClass } from '@nestjs/common';
import type { z } from 'zod';
import type { Feature } from '../../../access/index.js';
import type { Clock } from '../../../platform/clock/index.js';
import type { DtoClass } from '../../../platform/http/index.js';
import type { AgentLoop } from '../../domain/agent-loop.js';
import type { CatalogueModel } from '../../domain/catalogue-model.js';
import type { ModelRuntime, ProviderOptions } from '../../domain/model-runtime.js';
import type { KeyChoice, OwnKeyRules } from './own-key.js';
import type { ProviderAccess } from './provider-call.js';
import type { ModelTransport } from './transport.js';

/** What a caller may send about the model, whatever the provider. */
export interface ModelChoice {
  readonly model?: string;
}

/**
 * What agents of one type run on. Its methods take options of its own type alone, which the types cannot tell once the
 * descriptor has been looked up: look it up by the type of the options that it is given.
 */
export interface Provider<
  Type extends string = string,
  Options extends { readonly type: Type } = { readonly type: Type },
  Request extends { readonly type: Type } = { readonly type: Type },
> {
  /** What `provider.type` says of an agent; stored, so it never changes. */
  readonly type: Type;
  /** The feature that an organization needs; absent where every organization may have such agents. */
  readonly feature?: Feature;
  readonly ownKey: OwnKeyRules;
  /** The response components that its agents can emit, by the names of their switches. */
  readonly responseComponents: 'all' | readonly string[];
  /** Strongest first: the order in which a refusal lists them. Exactly one is the default. */
  readonly models: readonly CatalogueModel[];
  readonly settings: ProviderSettings<Options, Request>;
  readonly bodies: ProviderBodies<NoInfer<Request>>;
  /** The largest `timeoutMinutes` of its agents, where it is less than that of others. */
  readonly maxTimeoutMinutes?: number;
  /** Its agents search their knowledge with the default weight of meaning, whatever they or a request say. */
  readonly fixedSemanticWeight?: true;
  /** A Nest provider; absent where the loop of the engine runs the agents. */
  readonly loop?: NestClass<AgentLoop>;
}

/** The settings that a provider adds to its agents. */
export interface ProviderSettings<Options, Request> {
  /** Reads settings that any release stored: each setting except the type has a default. */
  readonly stored: z.ZodObject & z.ZodType<Options>;
  /** Of an agent whose creator sent none. */
  readonly initial: Options;
  /** For an answer that must come fast: no more thinking than the model cannot do without, and no search. */
  readonly quick: Options;
  /** The settings after a request; what was not sent stays. */
  merge(current: Options, request: Request): Options;
  /** As reads and versions show them, beside type, model and whose key pays. */
  describe(options: Options): Readonly<Record<string, unknown>>;
  /** Turns on the web search that the provider makes itself; absent where it has none. */
  withWebSearch?(options: Options): Options;
}

/** The classes of `provider` in requests and responses. */
export interface ProviderBodies<Request> {
  /** In the body that creates an agent. */
  readonly create: new () => KeyChoice & ModelChoice & Request;
  /** In the body that changes an agent. */
  readonly change: new () => ModelChoice & Request;
  /** Of an agent in responses. */
  readonly response: DtoClass;
}

/** What makes the runtime of one process. */
export type RuntimeClass<Options extends ProviderOptions> = new (
  access: ProviderAccess,
  transport: ModelTransport,
  clock: Clock,
) => ModelRuntime<Options>;

/** A provider with an API of its own for its models. */
export interface ApiProvider<
  Type extends string = string,
  Options extends { readonly type: Type } = { readonly type: Type },
  Request extends { readonly type: Type } = { readonly type: Type },
> extends Provider<Type, Options, Request> {
  /** Loaded when it is asked for, since the SDK comes with it. */
  runtime(): Promise<RuntimeClass<Options>>;
  /** What its API keys begin with. */
  readonly keyPrefixes: readonly string[];
  /** The operator's key is in `<name>_API_KEY`, an address that replaces the public one in `<name>_BASE_URL`. */
  readonly environment: string;
  /** What OpenTelemetry calls it: `gen_ai.provider.name`. */
  readonly telemetryName: string;
  /** The last part of a gateway's address for this provider; absent where gateways do not carry its traffic. */
  readonly gatewayPath?: string;
  /** Of the images, PDFs and texts that can be attached, those that its models do not take. */
  readonly refusedMediaTypes: readonly string[];
}

/** Describes a provider with an API of its own. */
export function defineApiProvider<
  const Type extends string,
  Options extends { readonly type: Type },
  Request extends { readonly type: Type },
>(provider: ApiProvider<Type, Options, Request>): ApiProvider<Type, Options, Request> {
  return provider;
}

/** Describes a provider whose agents have the models of other providers, and call their APIs. */
export function defineProvider<
  const Type extends string,
  Options extends { readonly type: Type },
  Request extends { readonly type: Type },
>(provider: Provider<Type, Options, Request>): Provider<Type, Options, Request> {
  return provider;
}
