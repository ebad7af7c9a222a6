import { z } from 'zod';
import {
  apiOf,
  type KeyChoice,
  keyOwner,
  type ModelChoice,
  type OptionsRequest,
  providerOf,
  type ProviderType,
  storedOptions,
} from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { AgentRefused } from './agents.errors.js';

/** The model, whose key pays for it, and the options of the provider. */
export const providerSettings = storedObject({
  model: z.string(),
  /** True: the agent's own key, which is in the vault. False: the operator's managed key. */
  useOwnApiKey: z.boolean().default(false),
  options: storedOptions,
});
export type ProviderSettings = Stored<typeof providerSettings>;

export type ProviderRequest = OptionsRequest & ModelChoice & KeyChoice;

/** The part of the model catalogue that agents are checked against. */
export interface ModelChoices {
  /** The models of the provider, in the order in which a refusal lists them. */
  of(type: ProviderType): readonly { readonly id: string; readonly ownKeyOnly: boolean }[];
  /** The model of a new agent whose request names none. */
  defaultOf(type: ProviderType): string;
}

/** @throws ValidationFailed for an unknown model, one that needs an own key, or a key that does not match `useOwnApiKey` */
export function newProvider(request: ProviderRequest, choices: ModelChoices): ProviderSettings {
  const { useOwnApiKey = false } = request;
  const { ownKey, settings } = providerOf(request.type);
  ownKey.create(request);
  const model = request.model ?? choices.defaultOf(request.type);
  requireAvailable(request.type, model, useOwnApiKey, choices);
  if (request.apiKey !== undefined) requireKeyOf(request.type, model, request.apiKey);
  return { model, useOwnApiKey, options: settings.merge(settings.initial, request) };
}

/**
 * The settings after a change. The stored model may be sent again even when it can no longer be chosen.
 * @throws AgentRefused `provider_type_mismatch`: the type of an agent never changes
 * @throws ValidationFailed as `newProvider`; also when the change needs a key and has none: the agent switches to its own key, or
 *   the new model needs a key of another provider
 */
export function changedProvider(
  current: ProviderSettings,
  change: ProviderRequest,
  choices: ModelChoices,
): ProviderSettings {
  const { type } = current.options;
  if (change.type !== type) throw typeMismatch(type, change.type);
  const { model = current.model, apiKey } = change;
  const useOwnApiKey = current.useOwnApiKey || change.useOwnApiKey === true;
  if (model !== current.model) requireAvailable(type, model, useOwnApiKey, choices);
  if (apiKey !== undefined) requireKeyOf(type, model, apiKey);
  else if (useOwnApiKey && !current.useOwnApiKey) {
    throw new ValidationFailed('body/provider/apiKey is required when useOwnApiKey is true');
  } else if (useOwnApiKey && !hasSameApi(type, model, current.model)) {
    throw new ValidationFailed(
      `body/provider/apiKey is required, with useOwnApiKey true: ${model} is of another family than ${current.model}, and needs another key`,
    );
  }
  return { ...current, model, useOwnApiKey, options: providerOf(type).settings.merge(current.options, change) };
}

/** Whether both models take the same key. */
export function hasSameApi(type: ProviderType, model: string, other: string): boolean {
  return apiOf(type, model) === apiOf(type, other);
}

/**
 * When the model decides which API an agent calls, the key must belong to that API. Compatible endpoints have keys of any format,
 * so a key of an unknown format passes.
 * @throws ValidationFailed
 */
export function requireKeyOf(type: ProviderType, model: string, apiKey: string, field = 'body/provider/apiKey'): void {
  const api = apiOf(type, model).type;
  const owner = keyOwner(apiKey);
  if (api === type || owner === undefined || owner === api) return;
  throw new ValidationFailed(
    `${field} must be a key of the model's family: ${model} is called through ${api}, and this is a key for ${owner}`,
  );
}

function typeMismatch(type: ProviderType, sent: ProviderType): AgentRefused {
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
