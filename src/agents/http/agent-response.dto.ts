import { PROVIDER_BODIES, PROVIDER_TYPES, ProviderResponse } from '../../models/index.js';
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
  type Variants,
} from '../../platform/http/index.js';
import type { ProviderDescription } from '../domain/agent-description.js';
import type { ShownSettings } from '../domain/agent-settings.js';
import { COMPONENT_SWITCHES, type ComponentSwitch, FREQUENCIES } from '../domain/response-components.js';

/** A boolean setting, in requests and responses alike. */
export class EnabledSetting {
  @BooleanField({ description: 'Whether it is on.' })
  readonly enabled!: boolean;
}

/** The request or response bodies of `provider` by its type; types without such a body are left out. */
export function providerVariants(name: 'create' | 'change' | 'response'): Variants {
  return Object.fromEntries(PROVIDER_TYPES.map((type) => [type, () => PROVIDER_BODIES[type][name]]));
}

export class ClassicProviderResponse extends ProviderResponse {
  @LiteralField('classic', {
    description:
      'An agent that the API does not manage; of the routes under `/v1/agents` only traces and `DELETE` work for it.',
  })
  readonly type!: 'classic';
}

const MANAGED = providerVariants('response');

export class ToolsResponse {
  @BooleanField({ description: 'A person approves calls of tools that change something.' })
  readonly requireApprovalForResourceChanges!: boolean;
  @BooleanField({ description: 'A person approves every call of a tool; supersedes the other flag.' })
  readonly requireApprovalBeforeToolCalls!: boolean;
}

const COVERED = {
  choiceButtons: 'confirm and select',
  card: 'card',
  list: 'list',
  table: 'none; the value is only stored',
  chart: 'none; the value is only stored',
} satisfies Record<ComponentSwitch, string>;

export class ComponentsResponse {
  readonly choiceButtons!: boolean;
  readonly card!: boolean;
  readonly list!: boolean;
  readonly table!: boolean;
  readonly chart!: boolean;
}
for (const name of COMPONENT_SWITCHES) {
  BooleanField({ description: `Whether components of this kind may be offered: ${COVERED[name]}.` })(
    ComponentsResponse.prototype,
    name,
  );
}

export class ResponseComponentsResponse {
  @EnumField(FREQUENCIES, {
    description:
      'How readily the agent offers components: `off` never, `low` where the next reply is one of a few options, `medium` where that is likely, `high` at every opportunity.',
  })
  readonly frequency!: (typeof FREQUENCIES)[number];
  @ObjectField(() => ComponentsResponse, { description: 'Every switch. Later releases may add switches.' })
  readonly components!: ComponentsResponse;
}

export class KnowledgeSearchResponse {
  @IntegerField({ description: 'The most results of one search.' })
  readonly maxResults!: number;
  @NumberField({ description: 'Results with a lower score are dropped; 0 to 1.' })
  readonly scoreThreshold!: number;
  @NumberField({ description: '0 searches by keywords alone, 1 by meaning alone.' })
  readonly semanticWeight!: number;
}

export class RunLimitsResponse {
  @IntegerField({ nullable: true, description: 'The most calls of the model; null for no limit.' })
  readonly maxSteps!: number | null;
  @NumberField({
    nullable: true,
    description: 'The credits after which the model is not called again; null for no limit.',
  })
  readonly maxCredits!: number | null;
}

export class AgentGatewayResponse {
  @EnumField(['agent', 'organization'], {
    description: "Where the setting comes from: the agent itself or the organization's default.",
  })
  readonly source!: 'agent' | 'organization';
  @BooleanField({ description: "Whether the agent's model traffic goes through the gateway." })
  readonly enabled!: boolean;
  @StringField({ optional: true, description: 'The account at the gateway; absent where no gateway is used.' })
  readonly edgeAccountId?: string;
  @StringField({
    optional: true,
    description: 'Name of the gateway within the account; absent where no gateway is used.',
  })
  readonly gatewayName?: string;
}

class AgentFields implements ShownSettings {
  @UuidField({ description: 'Named by `assistant_id` and `agentId` everywhere else.' })
  readonly id!: string;
  @StringField({ description: 'For people; it need not be unique.' })
  readonly name!: string;
  @ObjectField(() => ToolsResponse, { description: 'Which calls of tools a person has to approve.' })
  readonly tools!: ToolsResponse;
  @ObjectField(() => EnabledSetting, {
    description: 'Whether the agent remembers what users tell it from one conversation to the next.',
  })
  readonly longTermMemory!: EnabledSetting;
  @ObjectField(() => EnabledSetting, { description: 'Whether tool activity is shown to the person chatting.' })
  readonly toolProgress!: EnabledSetting;
  @ObjectField(() => ResponseComponentsResponse, {
    description: 'Which interactive components the agent offers in the widget, and how often.',
  })
  readonly responseComponents!: ResponseComponentsResponse;
  @ObjectField(() => KnowledgeSearchResponse, {
    description:
      'How the agent searches its knowledge; the defaults where the organization lacks the feature `knowledge_search`.',
  })
  readonly knowledgeSearch!: KnowledgeSearchResponse;
  @ObjectField(() => AgentGatewayResponse, {
    nullable: true,
    description: 'The gateway that model traffic takes; null where neither the agent nor the organization has one.',
  })
  readonly aiGateway!: AgentGatewayResponse | null;
  @IntegerField({ description: 'Longest time of one run, in minutes.' })
  readonly timeoutMinutes!: number;
  @ObjectField(() => RunLimitsResponse, {
    description: 'What one run may use, with the runs that it resumes; then it fails as `run_limit_reached`.',
  })
  readonly runLimits!: RunLimitsResponse;
  @IntegerField({ description: 'From 1, raised by every change that takes effect; also the ETag.' })
  readonly version!: number;
  @TimestampField({ description: 'When the agent was created.' })
  readonly createdAt!: string;
  @TimestampField({ description: 'When a setting of the agent last changed.' })
  readonly updatedAt!: string;
}

export class AgentResponse extends AgentFields {
  @StringField({
    description: 'Instructions for the model in every conversation; may be empty. The sections follow them.',
  })
  readonly systemPrompt!: string;
  @UnionField('type', MANAGED, { description: 'Whose model answers, and how.' })
  readonly provider!: ProviderDescription;
}

export class AssistantResponse extends AgentFields {
  @UnionField(
    'type',
    { ...MANAGED, classic: () => ClassicProviderResponse },
    { description: 'Whose model answers, and how.' },
  )
  readonly provider!: ProviderDescription;
}

export class AgentListResponse {
  @ObjectListField(() => AgentResponse, {
    description: 'In the order of `ids`; those that the key cannot see are left out.',
  })
  readonly agents!: AgentResponse[];
}

export class AssistantListResponse {
  @ObjectListField(() => AssistantResponse, { description: 'By name, then by id.' })
  readonly assistants!: AssistantResponse[];
}

export class AgentDeletedResponse {
  @UuidField({ description: 'The deleted agent.' })
  readonly id!: string;
  @BooleanField({ description: 'Always true.' })
  readonly deleted!: true;
}
