import type { DtoClass } from '../../platform/http/index.js';
import { ANTHROPIC_BODIES } from './anthropic/anthropic.dto.js';
import { CLAUDE_AGENT_BODIES } from './claude-agent-sdk/claude-agent-sdk.dto.js';
import { GEMINI_BODIES } from './gemini/gemini.dto.js';
import type { OptionsRequest, ProviderType } from './index.js';
import { OPENAI_BODIES } from './openai-responses/openai-responses.dto.js';
import type { KeyChoice } from './shared/own-key.js';
import type { ModelChoice } from './shared/provider.js';

type RequestOf<Type extends ProviderType> = Extract<OptionsRequest, { readonly type: Type }>;

interface ProviderBodies<Type extends ProviderType> {
  readonly create: new () => KeyChoice & ModelChoice & RequestOf<Type>;
  readonly change: new () => ModelChoice & RequestOf<Type>;
  readonly response: DtoClass;
}

/** Apart from the providers' descriptors, because operator commands load those without the HTTP framework. */
export const PROVIDER_BODIES: { readonly [Type in ProviderType]: ProviderBodies<Type> } = {
  anthropic: ANTHROPIC_BODIES,
  'openai-responses': OPENAI_BODIES,
  gemini: GEMINI_BODIES,
  'claude-agent-sdk': CLAUDE_AGENT_BODIES,
};

/** The loop that replaces the engine's for agents of its type. */
export { ClaudeAgentLoop as ProviderLoops } from './claude-agent-sdk/loop/claude-agent.loop.js';
