import {
  BooleanField,
  EnumField,
  IntegerField,
  LiteralField,
  NumberField,
  ObjectField,
  ObjectListField,
  StringField,
  TimestampField,
  UnionField,
  UuidField,
} from '../../platform/http/index.js';
import { COMPONENT_SWITCHES, FREQUENCIES } from '../domain/response-components.js';
import { ReasoningBody, TextBody, ThinkingDisabledBody, ThinkingEnabledBody } from './agent-request.dto.js';

/* The answers of `agent-view.ts` as the OpenAPI document describes them. */

class ProviderResponse {
  @StringField()
  readonly model!: string;
  @BooleanField()
  readonly useOwnApiKey!: boolean;
}

export class AnthropicProviderResponse extends ProviderResponse {
  @LiteralField('anthropic')
  readonly type!: 'anthropic';
  @UnionField('type', { enabled: () => ThinkingEnabledBody, disabled: () => ThinkingDisabledBody }, { nullable: true })
  readonly thinking!: ThinkingEnabledBody | ThinkingDisabledBody | null;
  @NumberField({ nullable: true })
  readonly temperature!: number | null;
  @BooleanField()
  readonly webSearch!: boolean;
}

export class OpenAiProviderResponse extends ProviderResponse {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @ObjectField(() => ReasoningBody)
  readonly reasoning!: ReasoningBody;
  @ObjectField(() => TextBody)
  readonly text!: TextBody;
}

export class GeminiProviderResponse extends ProviderResponse {
  @LiteralField('gemini')
  readonly type!: 'gemini';
}

export class ClassicProviderResponse extends ProviderResponse {
  @LiteralField('classic')
  readonly type!: 'classic';
}

const MANAGED = {
  anthropic: () => AnthropicProviderResponse,
  'openai-responses': () => OpenAiProviderResponse,
  gemini: () => GeminiProviderResponse,
} as const;

export class ToolsResponse {
  @BooleanField()
  readonly requireApprovalForResourceChanges!: boolean;
  @BooleanField()
  readonly requireApprovalBeforeToolCalls!: boolean;
}

export class EnabledResponse {
  @BooleanField()
  readonly enabled!: boolean;
}

export class ComponentsResponse {
  readonly choiceButtons!: boolean;
  readonly card!: boolean;
  readonly list!: boolean;
  readonly table!: boolean;
  readonly chart!: boolean;
}
for (const name of COMPONENT_SWITCHES) BooleanField()(ComponentsResponse.prototype, name);

export class ResponseComponentsResponse {
  @EnumField(FREQUENCIES)
  readonly frequency!: (typeof FREQUENCIES)[number];
  @ObjectField(() => ComponentsResponse, { description: 'The complete map; an unknown key is one more switch.' })
  readonly components!: ComponentsResponse;
}

export class KnowledgeSearchResponse {
  @IntegerField()
  readonly maxResults!: number;
  @NumberField()
  readonly scoreThreshold!: number;
  @NumberField()
  readonly semanticWeight!: number;
}

export class AgentGatewayResponse {
  @EnumField(['agent', 'organization'])
  readonly source!: 'agent' | 'organization';
  @BooleanField()
  readonly enabled!: boolean;
  @StringField({ optional: true })
  readonly edgeAccountId?: string;
  @StringField({ optional: true })
  readonly gatewayName?: string;
}

class AgentFields {
  @UuidField()
  readonly id!: string;
  @StringField()
  readonly name!: string;
  @ObjectField(() => ToolsResponse)
  readonly tools!: ToolsResponse;
  @ObjectField(() => EnabledResponse)
  readonly longTermMemory!: EnabledResponse;
  @ObjectField(() => EnabledResponse)
  readonly toolProgress!: EnabledResponse;
  @ObjectField(() => ResponseComponentsResponse)
  readonly responseComponents!: ResponseComponentsResponse;
  @ObjectField(() => KnowledgeSearchResponse)
  readonly knowledgeSearch!: KnowledgeSearchResponse;
  @ObjectField(() => AgentGatewayResponse, { nullable: true })
  readonly aiGateway!: AgentGatewayResponse | null;
  @IntegerField()
  readonly timeoutMinutes!: number;
  @IntegerField({ description: 'From 1, raised by every change that takes effect; also the ETag.' })
  readonly version!: number;
  @TimestampField()
  readonly createdAt!: string;
  @TimestampField()
  readonly updatedAt!: string;
}

export class AgentResponse extends AgentFields {
  @StringField()
  readonly systemPrompt!: string;
  @UnionField('type', MANAGED)
  readonly provider!: AnthropicProviderResponse | OpenAiProviderResponse | GeminiProviderResponse;
}

export class AssistantResponse extends AgentFields {
  @UnionField('type', { ...MANAGED, classic: () => ClassicProviderResponse })
  readonly provider!:
    | AnthropicProviderResponse
    | OpenAiProviderResponse
    | GeminiProviderResponse
    | ClassicProviderResponse;
}

export class AgentListResponse {
  @ObjectListField(() => AgentResponse)
  readonly agents!: AgentResponse[];
}

export class AssistantListResponse {
  @ObjectListField(() => AssistantResponse)
  readonly assistants!: AssistantResponse[];
}

export class AgentDeletedResponse {
  @UuidField()
  readonly id!: string;
  @BooleanField()
  readonly deleted!: true;
}
