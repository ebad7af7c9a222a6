import { z } from 'zod';
import type { RuntimeRequest } from '../domain/model-runtime.js';
import { anthropic } from './anthropic/anthropic.provider.js';
import { claudeAgentSdk } from './claude-agent-sdk/claude-agent-sdk.provider.js';
import { gemini } from './gemini/gemini.provider.js';
import { openAiResponses } from './openai-responses/openai-responses.provider.js';
import type { ApiProvider, Provider } from './shared/provider.js';

/** In the order of error messages and documents; examples show the first. In demo mode the sandbox replaces all of them. */
export const PROVIDERS = [anthropic, openAiResponses, gemini, claudeAgentSdk] as const;

type Listed = (typeof PROVIDERS)[number];

export type ProviderType = Listed['type'];

/** The settings of one provider; null means the default of the provider. */
export type ModelOptions = Listed['settings']['initial'];

/** The settings in a request for one provider; absent ones stay unchanged. */
export type OptionsRequest = Parameters<Listed['settings']['merge']>[1];

export type ModelRequest = RuntimeRequest<ModelOptions>;

export type AgentProvider = Provider<ModelOptions, OptionsRequest>;
export type ModelProvider = ApiProvider<ModelOptions, OptionsRequest>;

export const MODEL_PROVIDERS: readonly ModelProvider[] = PROVIDERS.filter(
  (provider): provider is Extract<Listed, { readonly runtime: unknown }> => 'runtime' in provider,
);

/** Reads the stored settings of any provider with its `ProviderSettings.stored`. */
export const storedOptions = z.discriminatedUnion(
  'type',
  PROVIDERS.map(({ settings }) => settings.stored) as unknown as [z.ZodObject],
) as z.ZodType as z.ZodType<ModelOptions>;

export const PROVIDER_TYPES: readonly ProviderType[] = PROVIDERS.map(({ type }) => type);
