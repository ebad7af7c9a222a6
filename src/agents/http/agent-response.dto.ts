import { MODEL_PROVIDERS, ProviderResponse } from '../../models/index.js';
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
import type { ProviderDescription } from '../domain/agent-description.js';
import { COMPONENT_SWITCHES, FREQUENCIES } from '../domain/response-components.js';
import { variantsOf } from './provider-variants.js';

/* The answers of `agent-view.ts` as the OpenAPI document describes them. */

export class ClassicProviderResponse extends ProviderResponse {
  @LiteralField('classic')
  readonly type!: 'classic';
}

const MANAGED = variantsOf(MODEL_PROVIDERS, ({ bodies }) => bodies.response);

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
  readonly provider!: ProviderDescription;
}

export class AssistantResponse extends AgentFields {
  @UnionField('type', { ...MANAGED, classic: () => ClassicProviderResponse })
  readonly provider!: ProviderDescription;
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
