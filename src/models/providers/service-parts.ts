import type { AgentLoop } from '../domain/agent-loop.js';
import type { DtoClass } from '../../platform/http/index.js';
import {
  AnthropicProviderBody,
  AnthropicProviderChangeBody,
  AnthropicProviderResponse,
} from './anthropic/anthropic.dto.js';
import {
  ClaudeAgentProviderBody,
  ClaudeAgentProviderChangeBody,
  ClaudeAgentProviderResponse,
} from './claude-agent-sdk/claude-agent-sdk.dto.js';
import { ClaudeAgentLoop } from './claude-agent-sdk/loop/claude-agent.loop.js';
import { GeminiProviderBody, GeminiProviderChangeBody, GeminiProviderResponse } from './gemini/gemini.dto.js';
import type { OptionsRequest, ProviderType } from './index.js';
import {
  OpenAiProviderBody,
  OpenAiProviderChangeBody,
  OpenAiProviderResponse,
} from './openai-responses/openai-responses.dto.js';
import type { KeyChoice } from './shared/own-key.js';
import type { ModelChoice } from './shared/provider.js';

/** The settings in a request, beside key and model. */
type RequestOf<Type extends ProviderType> = Extract<OptionsRequest, { readonly type: Type }>;

/** The classes of `provider` in requests and responses. */
interface ProviderBodies<Type extends ProviderType> {
  /** In the body that creates an agent. */
  readonly create: new () => KeyChoice & ModelChoice & RequestOf<Type>;
  /** In the body that changes an agent. */
  readonly change: new () => ModelChoice & RequestOf<Type>;
  /** Of an agent in responses. */
  readonly response: DtoClass;
}

/**
 * Apart from the providers' descriptions, because commands of the operator load those, and would load the HTTP framework and
 * the packages that validate requests as well.
 */
export const PROVIDER_BODIES: { readonly [Type in ProviderType]: ProviderBodies<Type> } = {
  anthropic: {
    create: AnthropicProviderBody,
    change: AnthropicProviderChangeBody,
    response: AnthropicProviderResponse,
  },
  'openai-responses': {
    create: OpenAiProviderBody,
    change: OpenAiProviderChangeBody,
    response: OpenAiProviderResponse,
  },
  gemini: { create: GeminiProviderBody, change: GeminiProviderChangeBody, response: GeminiProviderResponse },
  'claude-agent-sdk': {
    create: ClaudeAgentProviderBody,
    change: ClaudeAgentProviderChangeBody,
    response: ClaudeAgentProviderResponse,
  },
};

/** The Nest providers that run agents of their types; the engine's loop runs all other agents. */
export const LOOPS: readonly (new (...parts: never[]) => AgentLoop)[] = [ClaudeAgentLoop];
