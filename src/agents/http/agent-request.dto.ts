import { HEADER_TOKEN, MAX_GATEWAY_NAME, MAX_GATEWAY_TOKEN, PATH_PART } from '../../models/index.js';
import {
  BooleanField,
  EnumField,
  IgnoredField,
  IntegerField,
  JsonField,
  LiteralField,
  NumberField,
  ObjectField,
  StringField,
  StringListField,
  UnionField,
} from '../../platform/http/index.js';
import { NAME_LENGTH, SYSTEM_PROMPT_LENGTH, TIMEOUT_MINUTES } from '../domain/agent.js';
import { DEFAULT_KNOWLEDGE_SEARCH } from '../domain/knowledge-search.js';
import { REASONING_EFFORTS, THINKING_EFFORTS, VERBOSITIES } from '../domain/provider-settings.js';

type ThinkingEffort = (typeof THINKING_EFFORTS)[number];
type ReasoningEffort = (typeof REASONING_EFFORTS)[number];
type TextVerbosity = (typeof VERBOSITIES)[number];

const OPTIONAL = { optional: true } as const;
const MAX_MODEL = 255;
const CHANGED_MODEL = { optional: true, max: MAX_MODEL } as const;
const MODEL = { ...CHANGED_MODEL, description: 'A model of the provider; its default model when omitted.' } as const;

export class ThinkingEnabledBody {
  @LiteralField('enabled')
  readonly type!: 'enabled';
  @EnumField(THINKING_EFFORTS, {
    optional: true,
    description:
      'Default medium. xhigh and max use substantially more thinking tokens. Older models store it without effect.',
  })
  readonly effort?: ThinkingEffort;
}

export class ThinkingDisabledBody {
  @LiteralField('disabled')
  readonly type!: 'disabled';
}

const THINKING = { enabled: () => ThinkingEnabledBody, disabled: () => ThinkingDisabledBody } as const;
const TEMPERATURE = { min: 0, max: 1, optional: true, nullable: true } as const;

export class ReasoningBody {
  @EnumField(REASONING_EFFORTS, { optional: true, nullable: true })
  readonly effort?: ReasoningEffort | null;
}

export class TextBody {
  @EnumField(VERBOSITIES, { optional: true, nullable: true })
  readonly verbosity?: TextVerbosity | null;
}

/** The model and whose key pays for it. */
class KeyedProviderBody {
  @StringField(MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'false, the default, uses the managed key; true requires apiKey.' })
  readonly useOwnApiKey?: boolean;
  @StringField({ min: 1, max: 500, optional: true, description: 'Only with useOwnApiKey true. Never returned.' })
  readonly apiKey?: string;
}

export class AnthropicProviderBody extends KeyedProviderBody {
  @LiteralField('anthropic')
  readonly type!: 'anthropic';
  @UnionField('type', THINKING, OPTIONAL)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @NumberField(TEMPERATURE)
  readonly temperature?: number | null;
}

export class OpenAiProviderBody extends KeyedProviderBody {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @ObjectField(() => ReasoningBody, OPTIONAL)
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, OPTIONAL)
  readonly text?: TextBody;
}

export class GeminiProviderBody extends KeyedProviderBody {
  @LiteralField('gemini')
  readonly type!: 'gemini';
}

export class ClaudeAgentProviderBody extends KeyedProviderBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
}

export class AnthropicProviderChangeBody {
  @LiteralField('anthropic')
  readonly type!: 'anthropic';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
  @UnionField('type', THINKING, OPTIONAL)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @BooleanField(OPTIONAL)
  readonly webSearch?: boolean;
  @NumberField(TEMPERATURE)
  readonly temperature?: number | null;
}

export class OpenAiProviderChangeBody {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
  @ObjectField(() => ReasoningBody, OPTIONAL)
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, OPTIONAL)
  readonly text?: TextBody;
}

export class GeminiProviderChangeBody {
  @LiteralField('gemini')
  readonly type!: 'gemini';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
}

export class ClaudeAgentProviderChangeBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'Only true.' })
  readonly useOwnApiKey?: boolean;
  @StringField({ min: 1, max: 500, optional: true })
  readonly apiKey?: string;
}

export class EnabledBody {
  @BooleanField()
  readonly enabled!: boolean;
}

export class ToolsChangeBody {
  @BooleanField({ optional: true, description: 'Approval before tools that change something.' })
  readonly requireApprovalForResourceChanges?: boolean;
  @BooleanField({ optional: true, description: 'Approval before every tool call; supersedes the other flag.' })
  readonly requireApprovalBeforeToolCalls?: boolean;
}

export class ToolsBody extends ToolsChangeBody {
  @StringListField({
    each: { pattern: /^webSearch$/ },
    max: 10,
    optional: true,
    description: 'Managed integrations: webSearch, for anthropic agents only.',
  })
  readonly integrations?: readonly 'webSearch'[];
}

export class KnowledgeSearchBody {
  @IntegerField({ min: 1, max: 50, optional: true, description: `Default ${DEFAULT_KNOWLEDGE_SEARCH.maxResults}.` })
  readonly maxResults?: number;
  @NumberField({
    min: 0,
    max: 1,
    optional: true,
    description: `Lower returns more. Default ${DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold}.`,
  })
  readonly scoreThreshold?: number;
  @NumberField({
    min: 0,
    max: 1,
    optional: true,
    description: `0 is keywords only, 1 meaning only. Default ${DEFAULT_KNOWLEDGE_SEARCH.semanticWeight}.`,
  })
  readonly semanticWeight?: number;
}

const WHEN_ENABLED = { min: 1, optional: true, description: 'Required, and allowed, with enabled true only.' } as const;

/** Either the four fields with `enabled: true`, or `{enabled: false}`; see `gatewayRequestOf`. */
export class AgentGatewayBody {
  @BooleanField({ description: 'false: the agent calls its provider directly, whatever the organization has set.' })
  readonly enabled!: boolean;
  @StringField({ ...WHEN_ENABLED, max: MAX_GATEWAY_NAME, pattern: PATH_PART })
  readonly edgeAccountId?: string;
  @StringField({ ...WHEN_ENABLED, max: MAX_GATEWAY_NAME, pattern: PATH_PART })
  readonly gatewayName?: string;
  @StringField({
    ...WHEN_ENABLED,
    max: MAX_GATEWAY_TOKEN,
    pattern: HEADER_TOKEN,
    description: `${WHEN_ENABLED.description} Never returned.`,
  })
  readonly edgeApiToken?: string;
}

class AgentBody {
  @ObjectField(() => EnabledBody, OPTIONAL)
  readonly longTermMemory?: EnabledBody;
  @ObjectField(() => EnabledBody, {
    optional: true,
    description: 'Whether tool activity is shown to the person chatting.',
  })
  readonly toolProgress?: EnabledBody;
  @ObjectField(() => KnowledgeSearchBody, { optional: true, description: 'Needs the feature knowledge_search.' })
  readonly knowledgeSearch?: KnowledgeSearchBody;
  @IntegerField({
    ...{ min: TIMEOUT_MINUTES.min, max: TIMEOUT_MINUTES.max, optional: true },
    description: `Longest time of one run. Default ${TIMEOUT_MINUTES.default}.`,
  })
  readonly timeoutMinutes?: number;
}

export class CreateAgentBody extends AgentBody {
  @StringField(NAME_LENGTH)
  readonly name!: string;
  @StringField({ max: SYSTEM_PROMPT_LENGTH, optional: true })
  readonly systemPrompt?: string;
  @UnionField('type', {
    anthropic: () => AnthropicProviderBody,
    'openai-responses': () => OpenAiProviderBody,
    gemini: () => GeminiProviderBody,
    'claude-agent-sdk': () => ClaudeAgentProviderBody,
  })
  readonly provider!: AnthropicProviderBody | OpenAiProviderBody | GeminiProviderBody | ClaudeAgentProviderBody;
  @ObjectField(() => ToolsBody, OPTIONAL)
  readonly tools?: ToolsBody;
  @ObjectField(() => AgentGatewayBody, { optional: true, description: 'Needs the gateway in the plan.' })
  readonly aiGateway?: AgentGatewayBody;
  @IgnoredField()
  readonly responseComponents?: never;
}

export class ChangeAgentBody extends AgentBody {
  @StringField({ ...NAME_LENGTH, optional: true })
  readonly name?: string;
  @StringField({
    optional: true,
    description: `At most ${SYSTEM_PROMPT_LENGTH} characters, or as many as a longer stored one has. Empty clears it.`,
  })
  readonly systemPrompt?: string;
  @UnionField(
    'type',
    {
      anthropic: () => AnthropicProviderChangeBody,
      'openai-responses': () => OpenAiProviderChangeBody,
      gemini: () => GeminiProviderChangeBody,
      'claude-agent-sdk': () => ClaudeAgentProviderChangeBody,
    },
    { optional: true, description: 'The type must be that of the agent.' },
  )
  readonly provider?:
    | AnthropicProviderChangeBody
    | OpenAiProviderChangeBody
    | GeminiProviderChangeBody
    | ClaudeAgentProviderChangeBody;
  @ObjectField(() => ToolsChangeBody, OPTIONAL)
  readonly tools?: ToolsChangeBody;
  @ObjectField(() => AgentGatewayBody, {
    optional: true,
    nullable: true,
    description: "null drops the agent's override, so that the organization's default holds again.",
  })
  readonly aiGateway?: AgentGatewayBody | null;
  @JsonField({
    optional: true,
    description: 'frequency: off, low, medium or high. components: the switches to change, each true or false.',
    example: { frequency: 'medium', components: { list: true } },
  })
  readonly responseComponents?: unknown;
}
