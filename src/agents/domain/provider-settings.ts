import { z } from 'zod';
import {
  isRunnable,
  type KeyChoice,
  type ModelChoice,
  type OptionsRequest,
  providerOf,
  type ProviderType,
  type RequestableType,
  storedOptions,
} from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { AgentRefused } from './agents.errors.js';

/** What an agent runs on: the model, whose key pays, and the provider's own settings. */
export const providerSettings = storedObject({
  model: z.string(),
  /** The agent's own key, which is in the vault; otherwise the operator's managed key. */
  useOwnApiKey: z.boolean().default(false),
  options: storedOptions,
});
export type ProviderSettings = Stored<typeof providerSettings>;

export type ProviderRequest = OptionsRequest & ModelChoice & KeyChoice;

/** A provider that requests may name although this installation has no runtime for it: no agent has its type. */
export interface UnavailableProvider extends ModelChoice, KeyChoice {
  readonly type: Exclude<RequestableType, ProviderType>;
}

/** What a caller who changes an agent may send; a type that no agent has can only mismatch. */
export type ProviderChange = (OptionsRequest & ModelChoice) | UnavailableProvider;

/** The part of the model catalogue that agents are checked against. */
export interface ModelChoices {
  /** The models of the provider, in the order in which a refusal lists them. */
  of(type: ProviderType): readonly { readonly id: string; readonly ownKeyOnly: boolean }[];
  /** The model of an agent whose creator named none. */
  defaultOf(type: ProviderType): string;
}

/** @throws ValidationFailed for an unknown model, one beyond the managed key, or a key that is not as announced */
export function newProvider(request: ProviderRequest, choices: ModelChoices): ProviderSettings {
  const { useOwnApiKey = false } = request;
  const { ownKey, settings } = providerOf(request.type);
  ownKey.create(request);
  const model = request.model ?? choices.defaultOf(request.type);
  requireAvailable(request.type, model, useOwnApiKey, choices);
  return { model, useOwnApiKey, options: settings.merge(settings.initial, request) };
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
  if (!isRunnable(change) || change.type !== type) throw mismatch(type, change.type);
  const { model = current.model } = change;
  if (model !== current.model) requireAvailable(type, model, current.useOwnApiKey, choices);
  return { ...current, model, options: providerOf(type).settings.merge(current.options, change) };
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
