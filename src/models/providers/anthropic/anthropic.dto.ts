import { BooleanField, EnumField, LiteralField, NumberField, UnionField } from '../../../platform/http/index.js';
import {
  ChangedModelField,
  idsOf,
  KeyedProviderBody,
  NewModelField,
  OPTIONAL,
  ProviderResponse,
} from '../shared/provider.dto.js';
import { ANTHROPIC_MODELS } from './anthropic.catalogue.js';
import { DEFAULT_THINKING_EFFORT, TEMPERATURE, THINKING_EFFORTS, type ThinkingEffort } from './anthropic.settings.js';

export class ThinkingEnabledBody {
  @LiteralField('enabled', { description: 'The model thinks before it answers.' })
  readonly type!: 'enabled';
  @EnumField(THINKING_EFFORTS, {
    optional: true,
    description:
      `Default ${DEFAULT_THINKING_EFFORT}. xhigh and max use substantially more thinking tokens. No effect on ` +
      `${idsOf(ANTHROPIC_MODELS, ({ thinking }) => thinking !== 'adaptive')}, which thinks within a fixed budget of tokens.`,
  })
  readonly effort?: ThinkingEffort;
}

export class ThinkingDisabledBody {
  @LiteralField('disabled', { description: 'The model answers without thinking, unless it always thinks.' })
  readonly type!: 'disabled';
}

const THINKING = { enabled: () => ThinkingEnabledBody, disabled: () => ThinkingDisabledBody } as const;
const THINKING_FIELD = {
  optional: true,
  description:
    'Stored for any model; if absent, the default of the provider applies. disabled has no effect on ' +
    `${idsOf(ANTHROPIC_MODELS, ({ alwaysThinks }) => alwaysThinks)}, which always think; if disabled or absent, ` +
    `${idsOf(ANTHROPIC_MODELS, ({ withoutThinking }) => withoutThinking === 'between_tools')} thinks only between tool calls.`,
} as const;
const TEMPERATURE_FIELD = {
  ...TEMPERATURE,
  optional: true,
  nullable: true,
  description:
    'Stored for any model. It has an effect only on ' +
    `${idsOf(ANTHROPIC_MODELS, ({ takesTemperature }) => takesTemperature)} while thinking is not enabled.`,
} as const;

class AnthropicProviderBody extends KeyedProviderBody {
  @LiteralField('anthropic', { description: 'The Anthropic API.' })
  readonly type!: 'anthropic';
  @NewModelField(ANTHROPIC_MODELS)
  readonly model?: string;
  @UnionField('type', THINKING, THINKING_FIELD)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @NumberField(TEMPERATURE_FIELD)
  readonly temperature?: number | null;
}

class AnthropicProviderChangeBody {
  @LiteralField('anthropic', { description: 'Must be the type that the agent has.' })
  readonly type!: 'anthropic';
  @ChangedModelField(ANTHROPIC_MODELS)
  readonly model?: string;
  @UnionField('type', THINKING, THINKING_FIELD)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @BooleanField({
    ...OPTIONAL,
    description: 'Whether the agent may search the web through its provider; unchanged when omitted.',
  })
  readonly webSearch?: boolean;
  @NumberField(TEMPERATURE_FIELD)
  readonly temperature?: number | null;
}

class AnthropicProviderResponse extends ProviderResponse {
  @LiteralField('anthropic', { description: 'The Anthropic API.' })
  readonly type!: 'anthropic';
  @UnionField('type', THINKING, {
    nullable: true,
    description: 'Whether the model thinks before it answers. Null if it was never set, which means disabled.',
  })
  readonly thinking!: ThinkingEnabledBody | ThinkingDisabledBody | null;
  @NumberField({
    nullable: true,
    description: 'How freely the model chooses its words; null for the default of the model.',
  })
  readonly temperature!: number | null;
  @BooleanField({ description: 'Whether the agent may search the web through its provider.' })
  readonly webSearch!: boolean;
}

export const ANTHROPIC_BODIES = {
  create: AnthropicProviderBody,
  change: AnthropicProviderChangeBody,
  response: AnthropicProviderResponse,
};
