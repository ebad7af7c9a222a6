import { HEADER_TOKEN, MAX_GATEWAY_NAME, MAX_GATEWAY_TOKEN, PATH_PART, providerOf } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  BooleanField,
  EnumListField,
  IgnoredField,
  IntegerField,
  JsonField,
  NumberField,
  ObjectField,
  StringField,
  UnionField,
} from '../../platform/http/index.js';
import {
  type AgentChange,
  NAME_LENGTH,
  type NewAgent,
  SYSTEM_PROMPT_LENGTH,
  WEB_SEARCH_TYPES,
} from '../domain/agent.js';
import type { GatewayRequest } from '../domain/agent-gateway.js';
import {
  DEFAULT_KNOWLEDGE_SEARCH,
  NO_RUN_LIMITS,
  type PlainSettings,
  RUN_STEPS,
  type SentSettings,
  TIMEOUT_MINUTES,
} from '../domain/agent-settings.js';
import type { ProviderRequest } from '../domain/provider-settings.js';
import { readComponentsChange } from '../domain/response-components.js';
import { EnabledSetting, providerVariants } from './agent-response.dto.js';

const OPTIONAL = { optional: true } as const;

export class ToolsChangeBody {
  @BooleanField({ optional: true, description: 'Approval before tools that change something.' })
  readonly requireApprovalForResourceChanges?: boolean;
  @BooleanField({ optional: true, description: 'Approval before every tool call; supersedes the other flag.' })
  readonly requireApprovalBeforeToolCalls?: boolean;
}

export class ToolsBody extends ToolsChangeBody {
  @EnumListField(['webSearch'], {
    ...{ min: 0, max: 10, unique: false },
    optional: true,
    description: `Managed integrations: webSearch, for ${WEB_SEARCH_TYPES.join(' and ')} agents only.`,
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
    description: `Results with a lower score are dropped. Default ${DEFAULT_KNOWLEDGE_SEARCH.scoreThreshold}; when the default would drop every result, a search returns the best three above half of it.`,
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

export class AgentRunLimitsBody {
  @IntegerField({
    ...{ ...RUN_STEPS, optional: true, nullable: true },
    description: 'The most calls of the model. null for no limit, the default.',
  })
  readonly maxSteps?: number | null;
  @NumberField({
    ...{ above: 0, optional: true, nullable: true },
    description: 'The credits after which the model is not called again. null for no limit, the default.',
  })
  readonly maxCredits?: number | null;
}

const WHEN_ENABLED = { min: 1, optional: true, description: 'Required, and allowed, with enabled true only.' } as const;

/** Either the four fields with `enabled: true`, or `{enabled: false}`; see `readGatewayRequest`. */
export class AgentGatewayBody {
  @BooleanField({ description: 'false: the agent calls its provider directly, whatever the organization has set.' })
  readonly enabled!: boolean;
  @StringField({
    ...WHEN_ENABLED,
    max: MAX_GATEWAY_NAME,
    pattern: PATH_PART,
    description: 'Your account at the gateway. Required with `enabled` true, and refused otherwise.',
  })
  readonly edgeAccountId?: string;
  @StringField({
    ...WHEN_ENABLED,
    max: MAX_GATEWAY_NAME,
    pattern: PATH_PART,
    description: 'Name of the gateway within that account. Required with `enabled` true, and refused otherwise.',
  })
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
  @ObjectField(() => EnabledSetting, {
    ...OPTIONAL,
    description: 'Whether the agent remembers what users tell it from one conversation to the next. On by default.',
  })
  readonly longTermMemory?: EnabledSetting;
  @ObjectField(() => EnabledSetting, {
    optional: true,
    description: 'Whether tool activity is shown to the person chatting.',
  })
  readonly toolProgress?: EnabledSetting;
  @ObjectField(() => KnowledgeSearchBody, { optional: true, description: 'Needs the feature knowledge_search.' })
  readonly knowledgeSearch?: KnowledgeSearchBody;
  @IntegerField({
    ...{ min: TIMEOUT_MINUTES.min, max: TIMEOUT_MINUTES.max, optional: true },
    description: `Longest time of one run. Default ${TIMEOUT_MINUTES.default}.`,
  })
  readonly timeoutMinutes?: number;
  @ObjectField(() => AgentRunLimitsBody, {
    ...{ optional: true, nullable: true },
    description:
      'What one run may use, with the runs that it resumes; then it fails as `run_limit_reached`. null removes both limits.',
  })
  readonly runLimits?: AgentRunLimitsBody | null;
}

export class CreateAgentBody extends AgentBody {
  @StringField({ ...NAME_LENGTH, description: 'For people; it need not be unique.' })
  readonly name!: string;
  @StringField({
    max: SYSTEM_PROMPT_LENGTH,
    optional: true,
    description: 'Instructions for the model in every conversation; empty by default. The sections follow them.',
  })
  readonly systemPrompt?: string;
  @UnionField('type', providerVariants('create'), {
    description: 'The model provider. The type cannot be changed later.',
  })
  readonly provider!: ProviderRequest;
  @ObjectField(() => ToolsBody, {
    ...OPTIONAL,
    description: 'Which tool calls a person has to approve, and which managed tools the agent has.',
  })
  readonly tools?: ToolsBody;
  @ObjectField(() => AgentGatewayBody, { optional: true, description: 'Needs the gateway in the plan.' })
  readonly aiGateway?: AgentGatewayBody;
  @IgnoredField()
  readonly responseComponents?: never;
}

export class ChangeAgentBody extends AgentBody {
  @StringField({ ...NAME_LENGTH, optional: true, description: 'For people; it need not be unique.' })
  readonly name?: string;
  @StringField({
    optional: true,
    description: `At most ${SYSTEM_PROMPT_LENGTH} characters, or the length of the stored prompt if that is longer. An empty text clears it.`,
  })
  readonly systemPrompt?: string;
  @UnionField('type', providerVariants('change'), {
    optional: true,
    description: 'The type must be that of the agent.',
  })
  readonly provider?: ProviderRequest;
  @ObjectField(() => ToolsChangeBody, { ...OPTIONAL, description: 'Which tool calls a person has to approve.' })
  readonly tools?: ToolsChangeBody;
  @ObjectField(() => AgentGatewayBody, {
    optional: true,
    nullable: true,
    description: "null removes the agent's own setting, so that the organization's default applies.",
  })
  readonly aiGateway?: AgentGatewayBody | null;
  @JsonField({
    optional: true,
    description: 'frequency: off, low, medium or high. components: the switches to change, each true or false.',
    example: { frequency: 'medium', components: { list: true } },
  })
  readonly responseComponents?: unknown;
}

const GATEWAY_FIELDS = ['edgeAccountId', 'gatewayName', 'edgeApiToken'] as const;

/** A body's type and, so that the compiler reports a setting that the body lacks, its settings. */
type WithSettings<Body, Setting extends keyof Body> = Body & Pick<Body, Setting>;

export function readNewAgent({
  aiGateway,
  runLimits,
  ...body
}: WithSettings<CreateAgentBody, keyof PlainSettings>): NewAgent {
  return { ...body, runLimits: readRunLimits(runLimits), aiGateway: aiGateway && readGatewayRequest(aiGateway) };
}

export function readAgentChange({
  aiGateway,
  responseComponents,
  provider,
  runLimits,
  ...body
}: WithSettings<ChangeAgentBody, keyof PlainSettings>): AgentChange {
  if (provider) providerOf(provider.type).ownKey.change(provider);
  return {
    ...body,
    provider,
    runLimits: readRunLimits(runLimits),
    aiGateway: aiGateway && readGatewayRequest(aiGateway),
    responseComponents: responseComponents === undefined ? undefined : readComponentsChange(responseComponents),
  };
}

function readRunLimits(body: AgentRunLimitsBody | null | undefined): SentSettings['runLimits'] {
  return body === null ? NO_RUN_LIMITS : body;
}

function readGatewayRequest(body: AgentGatewayBody): GatewayRequest {
  const { edgeAccountId, gatewayName, edgeApiToken } = body;
  if (body.enabled) {
    const missing = GATEWAY_FIELDS.find((field) => body[field] === undefined);
    if (edgeAccountId === undefined || gatewayName === undefined || edgeApiToken === undefined) {
      throw new ValidationFailed(`body/aiGateway/${missing ?? ''} is required when enabled is true`);
    }
    return { enabled: true, edgeAccountId, gatewayName, edgeApiToken };
  }
  const surplus = GATEWAY_FIELDS.find((field) => body[field] !== undefined);
  if (surplus) throw new ValidationFailed(`body/aiGateway/${surplus} is not allowed when enabled is false`);
  return { enabled: false };
}
