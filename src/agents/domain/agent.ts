import { isDeepStrictEqual } from 'node:util';
import { providerOf, PROVIDERS, type ProviderType } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type GatewayRequest, requestedGateway } from './agent-gateway.js';
import type { AgentType } from './agent-type.js';
import { AgentRefused, VersionNotRestorable } from './agents.errors.js';
import { type AgentDescription, describeAgent } from './agent-description.js';
import {
  agentSettings,
  type AgentSettings,
  type AgentSnapshot,
  changedPlain,
  type SentSettings,
  TIMEOUT_MINUTES,
} from './agent-settings.js';
import type { FieldChange } from './agent-version.js';
import {
  changedProvider,
  hasSameApi,
  type ModelChoices,
  newProvider,
  type ProviderRequest,
  type ProviderSettings,
} from './provider-settings.js';
import { type ResponseComponentsChange, updateComponents } from './response-components.js';

export const NAME_LENGTH = { min: 1, max: 255 } as const;
export const SYSTEM_PROMPT_LENGTH = 200_000;

/** The fields that creating and changing an agent have in common. */
interface AgentRequest extends SentSettings {
  readonly systemPrompt?: string;
}

export interface NewAgent extends AgentRequest {
  readonly name: string;
  readonly provider: ProviderRequest;
  readonly tools?: SentSettings['tools'] & { readonly integrations?: readonly 'webSearch'[] };
  readonly aiGateway?: GatewayRequest;
}

export interface AgentChange extends AgentRequest {
  readonly name?: string;
  readonly provider?: ProviderRequest;
  readonly responseComponents?: ResponseComponentsChange;
  /** null drops the agent's override. */
  readonly aiGateway?: GatewayRequest | null;
}

export interface OperatorSettings {
  readonly disableInteractivePrompts?: boolean;
  /** `classic`: the API cannot manage the agent, which keeps its provider. `standard`: the agent has the type of its provider, and the API manages it. */
  readonly type?: 'classic' | 'standard';
}

interface Identity {
  readonly id: string;
  readonly organizationId: string;
}

/** A conversational agent. Request classes check the bounds of fields; the rules between fields are here. */
export class Agent {
  readonly id: string;
  readonly organizationId: string;
  type: AgentType;
  name: string;
  systemPrompt: string;
  settings: AgentSettings;
  /** Starts at 1; each change that takes effect raises it. */
  version: number;
  readonly createdAt: Date;
  updatedAt: Date;

  /** For tests and `Agent.create`. */
  constructor(identity: Identity, name: string, systemPrompt: string, settings: AgentSettings, now: Date) {
    this.id = identity.id;
    this.organizationId = identity.organizationId;
    this.type = settings.provider.options.type;
    this.name = name;
    this.systemPrompt = systemPrompt;
    this.settings = settings;
    this.version = 1;
    this.createdAt = now;
    this.updatedAt = now;
  }

  /**
   * Settings that the request lacks have their defaults.
   * @throws ValidationFailed when a setting does not suit the provider
   * @throws AgentRefused `ai_gateway_unsupported_provider`
   */
  static create(identity: Identity, request: NewAgent, choices: ModelChoices, now: Date): Agent {
    const { type } = request.provider;
    requireTimeout(type, request);
    const { integrations = [], ...tools } = request.tools ?? {};
    const provider = providerWithIntegrations(newProvider(request.provider, choices), integrations);
    const initial: AgentSettings = agentSettings.parse({ provider });
    const settings: AgentSettings = {
      ...initial,
      ...changedPlain(initial, { ...request, tools }),
      scoreThresholdSet: sendsThreshold(request) ? true : undefined,
      aiGateway: request.aiGateway ? requestedGateway(type, request.aiGateway) : null,
    };
    return new Agent(identity, request.name, request.systemPrompt ?? '', settings, now);
  }

  /** False for types that only the operator creates: the agents' routes answer `404` for them. */
  get managedByApi(): boolean {
    return this.type !== 'classic';
  }

  /** The snapshots that a version stores of the agent, by part. */
  snapshots(): { readonly agent: AgentSnapshot } {
    const { name, systemPrompt, settings } = this;
    return { agent: { name, systemPrompt, settings } };
  }

  enterNextVersion(now: Date): void {
    this.version += 1;
    this.updatedAt = now;
  }

  /**
   * Applies a change, or nothing when one part is refused. Does not handle the secrets of the request.
   * @returns the fields whose values differ
   * @throws ValidationFailed, AgentRefused, UnsupportedForAgentType
   */
  change(change: AgentChange, choices: ModelChoices): FieldChange[] {
    const settings = this.changedSettings(change, choices);
    if (change.systemPrompt !== undefined) this.requirePromptLength(change.systemPrompt);
    const { name = this.name, systemPrompt = this.systemPrompt } = change;
    return this.apply({ name, systemPrompt, settings });
  }

  /**
   * Restores a version. Keeps the secrets, `useOwnApiKey`, which belongs to a secret, and the settings of the operator.
   * @returns the fields whose values differ
   * @throws VersionNotRestorable when the version's model is no longer available to the agent
   */
  restore({ name, systemPrompt, settings: restored }: AgentSnapshot, choices: ModelChoices): FieldChange[] {
    const { provider, disableInteractivePrompts } = this.settings;
    const { useOwnApiKey } = provider;
    // Named, because a snapshot of an earlier release lacks it and must not keep the present value.
    const { scoreThresholdSet } = restored;
    const settings = {
      ...this.settings,
      ...restored,
      scoreThresholdSet,
      provider: { ...restored.provider, useOwnApiKey },
    };
    const offered = choices.of(settings.provider.options.type);
    const { model } = settings.provider;
    if (
      model !== provider.model &&
      !offered.some(({ id, ownKeyOnly }) => id === model && (useOwnApiKey || !ownKeyOnly))
    ) {
      throw new VersionNotRestorable(`its model ${model} is no longer available to this agent.`);
    }
    if (useOwnApiKey && !hasSameApi(settings.provider.options.type, model, provider.model)) {
      throw new VersionNotRestorable(
        `its model ${model} needs a key of another family than the agent's own key for ${provider.model}.`,
      );
    }
    return this.apply({ name, systemPrompt, settings: { ...settings, disableInteractivePrompts } });
  }

  /** @returns the fields whose values differ */
  operate({ type, disableInteractivePrompts }: OperatorSettings): FieldChange[] {
    const before = describeAgent(this);
    if (type !== undefined) this.type = type === 'classic' ? type : this.settings.provider.options.type;
    this.settings = {
      ...this.settings,
      disableInteractivePrompts: disableInteractivePrompts ?? this.settings.disableInteractivePrompts,
    };
    return differences(before, describeAgent(this));
  }

  private apply({ name, systemPrompt, settings }: AgentSnapshot): FieldChange[] {
    const before = describeAgent(this);
    Object.assign(this, { name, systemPrompt, settings });
    return differences(before, describeAgent(this));
  }

  private changedSettings(change: AgentChange, choices: ModelChoices): AgentSettings {
    const current = this.settings;
    requireTimeout(current.provider.options.type, change);
    const { provider, responseComponents, aiGateway } = change;
    return {
      ...current,
      ...changedPlain(current, change),
      provider: provider ? changedProvider(current.provider, provider, choices) : current.provider,
      responseComponents: responseComponents
        ? updateComponents(this.type, current.responseComponents, responseComponents)
        : current.responseComponents,
      scoreThresholdSet: sendsThreshold(change) ? true : current.scoreThresholdSet,
      aiGateway: aiGateway ? requestedGateway(this.type, aiGateway) : aiGateway === null ? null : current.aiGateway,
    };
  }

  /** A stored prompt that exceeds the limit may be replaced by one that is at most as long. */
  private requirePromptLength(prompt: string): void {
    const allowed = Math.max(SYSTEM_PROMPT_LENGTH, lengthOf(this.systemPrompt));
    const length = lengthOf(prompt);
    if (length <= allowed) return;
    throw new AgentRefused(
      'system_prompt_too_long',
      `systemPrompt: ${String(length)} characters are too many; at most ${String(allowed)} are allowed.`,
    );
  }
}

/** @throws ValidationFailed */
function requireTimeout(type: ProviderType, { timeoutMinutes }: AgentRequest): void {
  const { maxTimeoutMinutes = TIMEOUT_MINUTES.max } = providerOf(type);
  if (timeoutMinutes === undefined || timeoutMinutes <= maxTimeoutMinutes) return;
  throw new ValidationFailed(`body/timeoutMinutes must be at most ${maxTimeoutMinutes} for ${type} agents`);
}

function sendsThreshold({ knowledgeSearch }: AgentRequest): boolean {
  return knowledgeSearch?.scoreThreshold !== undefined;
}

/** Characters are Unicode code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** The types whose provider searches the web itself. */
export const WEB_SEARCH_TYPES = PROVIDERS.filter(({ settings }) => 'withWebSearch' in settings).map(({ type }) => type);

function providerWithIntegrations(provider: ProviderSettings, integrations: readonly 'webSearch'[]): ProviderSettings {
  if (integrations.length === 0) return provider;
  const { type, settings } = providerOf(provider.options.type);
  if (!settings.withWebSearch) {
    throw new ValidationFailed(
      `body/tools/integrations must be empty for ${type} agents: ` +
        `webSearch is for ${WEB_SEARCH_TYPES.join(' and ')} agents only`,
    );
  }
  return { ...provider, options: settings.withWebSearch(provider.options) };
}

function differences(before: AgentDescription, after: AgentDescription): FieldChange[] {
  return (Object.keys(after) as (keyof AgentDescription)[])
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}
