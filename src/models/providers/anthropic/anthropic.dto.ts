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
      `Default ${DEFAULT_THINKING_EFFORT}. xhigh and max use substantially more thinking tokens. Without effect on ` +
      `${idsOf(ANTHROPIC_MODELS, ({ thinking }) => thinking !== 'adaptive')}, which thinks within a budget of tokens.`,
  })
  readonly effort?: ThinkingEffort;
}

export class ThinkingDisabledBody {
  @LiteralField('disabled', { description: 'The model answers at once, unless it is one that always thinks.' })
  readonly type!: 'disabled';
}

const THINKING = { enabled: () => ThinkingEnabledBody, disabled: () => ThinkingDisabledBody } as const;
const THINKING_FIELD = {
  optional: true,
  description:
    'Any model stores it; without it the default of the provider holds. disabled has no effect on ' +
    `${idsOf(ANTHROPIC_MODELS, ({ alwaysThinks }) => alwaysThinks)}, which always think; disabled or absent, ` +
    `${idsOf(ANTHROPIC_MODELS, ({ withoutThinking }) => withoutThinking === 'between_tools')} thinks between tool calls alone.`,
} as const;
const TEMPERATURE_FIELD = {
  ...TEMPERATURE,
  optional: true,
  nullable: true,
  description:
    'Any model stores it. It has an effect on ' +
    `${idsOf(ANTHROPIC_MODELS, ({ takesTemperature }) => takesTemperature)} while thinking is not enabled, and on no other model.`,
} as const;

export class AnthropicProviderBody extends KeyedProviderBody {
  @LiteralField('anthropic', { description: 'The Anthropic API.' })
  readonly type!: 'anthropic';
  @NewModelField(ANTHROPIC_MODELS)
  readonly model?: string;
  @UnionField('type', THINKING, THINKING_FIELD)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @NumberField(TEMPERATURE_FIELD)
  readonly temperature?: number | null;
}

export class AnthropicProviderChangeBody {
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

export class AnthropicProviderResponse extends ProviderResponse {
  @LiteralField('anthropic', { description: 'The Anthropic API.' })
  readonly type!: 'anthropic';
  @UnionField('type', THINKING, {
    nullable: true,
    description:
      'Whether the model thinks before it answers; null where the agent never set it, which is the same as disabled.',
  })
  readonly thinking!: ThinkingEnabledBody | ThinkingDisabledBody | null;
  @NumberField({ nullable: true, description: 'How freely the model chooses its words; null leaves it to the model.' })
  readonly temperature!: number | null;
  @BooleanField({ description: 'Whether the agent may search the web through its provider.' })
  readonly webSearch!: boolean;
}
