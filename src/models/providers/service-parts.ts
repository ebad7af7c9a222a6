import type { AgentLoop } from '../domain/agent-loop.js';
import type { DtoClass } from '../../platform/http/index.js';
import { ANTHROPIC_BODIES } from './anthropic/anthropic.dto.js';
import { CLAUDE_AGENT_BODIES } from './claude-agent-sdk/claude-agent-sdk.dto.js';
import { ClaudeAgentLoop } from './claude-agent-sdk/loop/claude-agent.loop.js';
import { GEMINI_BODIES } from './gemini/gemini.dto.js';
import type { OptionsRequest, ProviderType } from './index.js';
import { OPENAI_BODIES } from './openai-responses/openai-responses.dto.js';
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
  anthropic: ANTHROPIC_BODIES,
  'openai-responses': OPENAI_BODIES,
  gemini: GEMINI_BODIES,
  'claude-agent-sdk': CLAUDE_AGENT_BODIES,
};

/** The Nest providers that run agents of their types; the engine's loop runs all other agents. */
export const LOOPS: readonly (new (...parts: never[]) => AgentLoop)[] = [ClaudeAgentLoop];
