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
import { GeminiProviderBody, GeminiProviderChangeBody, GeminiProviderResponse } from './gemini/gemini.dto.js';
import type { OptionsRequest, ProviderType } from './index.js';
import {
  OpenAiProviderBody,
  OpenAiProviderChangeBody,
  OpenAiProviderResponse,
} from './openai-responses/openai-responses.dto.js';
import type { KeyChoice } from './shared/own-key.js';
import type { ModelChoice } from './shared/provider.js';

/** What a caller may send about a provider, beside its key and model. */
type RequestOf<Type extends ProviderType> = Extract<OptionsRequest, { readonly type: Type }>;

type ProviderBodies = {
  readonly [Type in ProviderType]: {
    /** `provider` in the body that creates an agent. */
    readonly create: new () => KeyChoice & ModelChoice & RequestOf<Type>;
    /** The same in the body that changes one. */
    readonly change: new () => ModelChoice & RequestOf<Type>;
    /** `provider` of an agent in answers. */
    readonly response: DtoClass;
  };
};

/**
 * The classes of `provider` in requests and answers, in the order of `PROVIDERS`. The descriptors do not hold them, because
 * the domain and the command line read those, and must not load the HTTP framework with them.
 */
export const PROVIDER_BODIES: ProviderBodies = {
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
