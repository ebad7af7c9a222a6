import { isDeepStrictEqual } from 'node:util';
import { providerOf, PROVIDERS, type ProviderType } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { gatewayOf, type GatewayRequest } from './agent-gateway.js';
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
import type { FieldChange } from './field-change.js';
import {
  changedProvider,
  hasSameApi,
  type ModelChoices,
  newProvider,
  type ProviderChange,
  type ProviderRequest,
  type ProviderSettings,
} from './provider-settings.js';
import { type ResponseComponentsChange, updateComponents } from './response-components.js';

export const NAME_LENGTH = { min: 1, max: 255 } as const;
export const SYSTEM_PROMPT_LENGTH = 200_000;

/** What may be sent when an agent is made and when it is changed alike. */
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
  readonly provider?: ProviderChange;
  readonly responseComponents?: ResponseComponentsChange;
  /** null drops the agent's override. */
  readonly aiGateway?: GatewayRequest | null;
}

/** What the operator alone sets. */
export interface OperatorSettings {
  readonly disableInteractivePrompts?: boolean;
  /** `classic`: the API cannot manage the agent, which keeps its provider. `standard`: the agent has the type of its provider, and the API manages it. */
  readonly type?: 'classic' | 'standard';
}

interface Identity {
  readonly id: string;
  readonly organizationId: string;
}

/** A conversational agent. Its bounds are the interface's schema; its rules are here. */
export class Agent {
  readonly id: string;
  readonly organizationId: string;
  type: AgentType;
  name: string;
  systemPrompt: string;
  settings: AgentSettings;
  /** From 1, raised by every change that takes effect. */
  version: number;
  readonly createdAt: Date;
  updatedAt: Date;

  /** `Agent.create` makes one from a request. */
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
   * A new agent, every setting that was not sent at its default.
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
      aiGateway: request.aiGateway ? gatewayOf(type, request.aiGateway) : null,
    };
    return new Agent(identity, request.name, request.systemPrompt ?? '', settings, now);
  }

  /** False for the types that only the operator makes: they answer `404` on the agents' routes. */
  get managedByApi(): boolean {
    return this.type !== 'classic';
  }

  /** What a version keeps of the agent, by part. */
  snapshots(): { readonly agent: AgentSnapshot } {
    const { name, systemPrompt, settings } = this;
    return { agent: { name, systemPrompt, settings } };
  }

  /** Once for each change that took effect. */
  enterNextVersion(now: Date): void {
    this.version += 1;
    this.updatedAt = now;
  }

  /**
   * Applies a change; nothing of it when one part is refused. Secrets that came with it are not its concern.
   * @returns the fields that have another value now
   * @throws ValidationFailed, AgentRefused, UnsupportedForAgentType
   */
  change(change: AgentChange, choices: ModelChoices): FieldChange[] {
    const settings = this.changedSettings(change, choices);
    if (change.systemPrompt !== undefined) this.requirePromptLength(change.systemPrompt);
    const { name = this.name, systemPrompt = this.systemPrompt } = change;
    return this.become({ name, systemPrompt, settings });
  }

  /**
   * Goes back to what a version was. Secrets stay as they are, and so do whose key pays, which goes with the
   * secret, and what the operator decides.
   * @returns the fields that have another value now
   * @throws VersionNotRestorable when its model is no longer to be had, or not with the agent's own key
   */
  restore({ name, systemPrompt, settings: kept }: AgentSnapshot, choices: ModelChoices): FieldChange[] {
    const { provider, disableInteractivePrompts } = this.settings;
    const { useOwnApiKey } = provider;
    const { scoreThresholdSet } = kept;
    const settings = { ...this.settings, ...kept, scoreThresholdSet, provider: { ...kept.provider, useOwnApiKey } };
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
    return this.become({ name, systemPrompt, settings: { ...settings, disableInteractivePrompts } });
  }

  /** @returns the fields that have another value now */
  operate({ type, disableInteractivePrompts }: OperatorSettings): FieldChange[] {
    const before = describeAgent(this);
    if (type !== undefined) this.type = type === 'classic' ? type : this.settings.provider.options.type;
    this.settings = {
      ...this.settings,
      disableInteractivePrompts: disableInteractivePrompts ?? this.settings.disableInteractivePrompts,
    };
    return differences(before, describeAgent(this));
  }

  private become({ name, systemPrompt, settings }: AgentSnapshot): FieldChange[] {
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
      aiGateway: aiGateway ? gatewayOf(this.type, aiGateway) : aiGateway === null ? null : current.aiGateway,
    };
  }

  /** A prompt that is already longer than allowed may be replaced by any that is no longer than it is. */
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
