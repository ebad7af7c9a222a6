import type { ModelOptions, ProviderType, ReasoningEffort, TextVerbosity, ThinkingEffort } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { AgentRefused } from './agents.errors.js';
import type { RequestableType } from './agent-type.js';

export const THINKING_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly ThinkingEffort[];
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const satisfies
  readonly ReasoningEffort[];
export const VERBOSITIES = ['low', 'medium', 'high'] as const satisfies readonly TextVerbosity[];

const DEFAULT_THINKING_EFFORT: ThinkingEffort = 'medium';

/** What an agent runs on: the model, whose key pays, and the provider's own settings. */
export interface ProviderSettings {
  readonly model: string;
  /** The agent's own key, which is in the vault; otherwise the operator's managed key. */
  readonly useOwnApiKey: boolean;
  readonly options: ModelOptions;
}

export interface ThinkingRequest {
  readonly type: 'enabled' | 'disabled';
  readonly effort?: ThinkingEffort;
}

/** The settings that a caller may send for one provider type; absent ones are left as they are. */
export type OptionsRequest =
  | {
      readonly type: 'anthropic';
      readonly thinking?: ThinkingRequest;
      readonly temperature?: number | null;
      readonly webSearch?: boolean;
    }
  | {
      readonly type: 'openai-responses';
      readonly reasoning?: { readonly effort?: ReasoningEffort | null };
      readonly text?: { readonly verbosity?: TextVerbosity | null };
    }
  | { readonly type: 'gemini' };

export type ProviderRequest = OptionsRequest & {
  readonly model?: string;
  readonly useOwnApiKey?: boolean;
  /** Goes to the vault; no settings object holds it. */
  readonly apiKey?: string;
};

/** What a caller who changes an agent may send; the type that no agent has can only mismatch. */
export type ProviderChange = (OptionsRequest & { readonly model?: string }) | { readonly type: 'claude-agent-sdk' };

/** The part of the model catalogue that agents are checked against. */
export interface ModelChoices {
  /** The models of the provider, in the order in which a refusal lists them. */
  of(type: ProviderType): readonly { readonly id: string; readonly ownKeyOnly: boolean }[];
  /** The model of an agent whose creator named none. */
  defaultOf(type: ProviderType): string;
}

const INITIAL_OPTIONS: { readonly [Type in ProviderType]: Extract<ModelOptions, { type: Type }> } = {
  anthropic: { type: 'anthropic', thinking: null, temperature: null, webSearch: false },
  'openai-responses': { type: 'openai-responses', reasoningEffort: null, verbosity: null },
  gemini: { type: 'gemini' },
};

/** @throws ValidationFailed for an unknown model, one beyond the managed key, or a key that is not as announced */
export function newProvider(request: ProviderRequest, choices: ModelChoices): ProviderSettings {
  const { useOwnApiKey = false } = request;
  if (useOwnApiKey && request.apiKey === undefined) {
    throw new ValidationFailed('body/provider/apiKey is required when useOwnApiKey is true');
  }
  if (!useOwnApiKey && request.apiKey !== undefined) {
    throw new ValidationFailed('body/provider/apiKey is accepted only when useOwnApiKey is true');
  }
  const model = request.model ?? choices.defaultOf(request.type);
  requireAvailable(request.type, model, useOwnApiKey, choices);
  return { model, useOwnApiKey, options: mergeOptions(INITIAL_OPTIONS[request.type], request) };
}

/**
 * The settings after a change; what was not sent stays. The stored model may be sent again even
 * where it could no longer be chosen.
 * @throws AgentRefused `provider_type_mismatch`: the type of an agent never changes
 * @throws ValidationFailed as `newProvider`
 */
export function changedProvider(
  current: ProviderSettings,
  change: ProviderChange,
  choices: ModelChoices,
): ProviderSettings {
  const { type } = current.options;
  if (change.type === 'claude-agent-sdk' || change.type !== type) throw mismatch(type, change.type);
  const { model = current.model } = change;
  if (model !== current.model) requireAvailable(type, model, current.useOwnApiKey, choices);
  return { ...current, model, options: mergeOptions(current.options, change) };
}

function mismatch(type: ProviderType, sent: RequestableType): AgentRefused {
  return new AgentRefused(
    'provider_type_mismatch',
    `provider.type: the agent runs on ${type}, which cannot change to ${sent}; create another agent for that.`,
  );
}

function requireAvailable(type: ProviderType, model: string, useOwnApiKey: boolean, choices: ModelChoices): void {
  const offered = choices.of(type);
  const chosen = offered.find(({ id }) => id === model);
  const allowed = offered.filter(({ ownKeyOnly }) => useOwnApiKey || !ownKeyOnly).map(({ id }) => id);
  if (chosen === undefined) {
    throw new ValidationFailed(`body/provider/model must be one of ${allowed.join(', ')} for ${type} agents`);
  }
  if (!allowed.includes(model)) {
    throw new ValidationFailed(
      `body/provider/model ${model} is available only with an own key (useOwnApiKey); ` +
        `with the managed key it must be one of ${allowed.join(', ')}`,
    );
  }
}

function mergeOptions(current: ModelOptions, request: OptionsRequest): ModelOptions {
  switch (request.type) {
    case 'anthropic': {
      const before = current.type === 'anthropic' ? current : INITIAL_OPTIONS.anthropic;
      const { thinking, temperature = before.temperature, webSearch = before.webSearch } = request;
      return { ...before, thinking: thinking ? chosenThinking(thinking) : before.thinking, temperature, webSearch };
    }
    case 'openai-responses': {
      const before = current.type === 'openai-responses' ? current : INITIAL_OPTIONS['openai-responses'];
      const { effort = before.reasoningEffort } = request.reasoning ?? {};
      const { verbosity = before.verbosity } = request.text ?? {};
      return { ...before, reasoningEffort: effort, verbosity };
    }
    case 'gemini':
      return INITIAL_OPTIONS.gemini;
    default:
      return request satisfies never;
  }
}

function chosenThinking({ type, effort = DEFAULT_THINKING_EFFORT }: ThinkingRequest): NonNullable<AnthropicThinking> {
  return type === 'enabled' ? { type, effort } : { type };
}

type AnthropicThinking = Extract<ModelOptions, { type: 'anthropic' }>['thinking'];
