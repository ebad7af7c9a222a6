import { BooleanField, EnumField, LiteralField, NumberField, StringField, UnionField } from '../../../platform/http/index.js';
import { CHANGED_MODEL, KeyedProviderBody, OPTIONAL, ProviderResponse } from '../shared/provider.dto.js';
import { DEFAULT_THINKING_EFFORT, TEMPERATURE, THINKING_EFFORTS, type ThinkingEffort } from './anthropic.settings.js';

export class ThinkingEnabledBody {
  @LiteralField('enabled')
  readonly type!: 'enabled';
  @EnumField(THINKING_EFFORTS, {
    optional: true,
    description:
      `Default ${DEFAULT_THINKING_EFFORT}. xhigh and max use substantially more thinking tokens. Older models store ` +
      'it without effect.',
  })
  readonly effort?: ThinkingEffort;
}

export class ThinkingDisabledBody {
  @LiteralField('disabled')
  readonly type!: 'disabled';
}

const THINKING = { enabled: () => ThinkingEnabledBody, disabled: () => ThinkingDisabledBody } as const;
const TEMPERATURE_FIELD = { ...TEMPERATURE, optional: true, nullable: true } as const;

export class AnthropicProviderBody extends KeyedProviderBody {
  @LiteralField('anthropic')
  readonly type!: 'anthropic';
  @UnionField('type', THINKING, OPTIONAL)
  readonly thinking?: ThinkingEnabledBody | ThinkingDisabledBody;
  @NumberField(TEMPERATURE_FIELD)
  readonly temperature?: number | null;
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
  @NumberField(TEMPERATURE_FIELD)
  readonly temperature?: number | null;
}

export class AnthropicProviderResponse extends ProviderResponse {
  @LiteralField('anthropic')
  readonly type!: 'anthropic';
  @UnionField('type', THINKING, { nullable: true })
  readonly thinking!: ThinkingEnabledBody | ThinkingDisabledBody | null;
  @NumberField({ nullable: true })
  readonly temperature!: number | null;
  @BooleanField()
  readonly webSearch!: boolean;
}
