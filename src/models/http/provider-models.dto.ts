import {
  BooleanField,
  EnumField,
  IntegerField,
  NumberField,
  ObjectField,
  ObjectListField,
  StringField,
} from '../../platform/http/index.js';
import type { CatalogueModel } from '../domain/catalogue-model.js';
import { MODEL_PROVIDERS, PROVIDER_TYPES, type ProviderType } from '../providers/index.js';

const FAMILIES = [...new Set(MODEL_PROVIDERS.flatMap(({ models }) => models.map(({ family }) => family)))];
const THINKING_KINDS = ['none', 'budget', 'adaptive', 'always'] as const;
type ThinkingKind = (typeof THINKING_KINDS)[number];

export class ModelCreditsResponse {
  @NumberField({ min: 0, description: 'For a million tokens of input.' })
  readonly input!: number;
  @NumberField({ min: 0, description: 'For a million tokens of input that the provider had in its cache.' })
  readonly cachedInput!: number;
  @NumberField({ min: 0, description: 'For a million tokens of output, thinking included.' })
  readonly output!: number;
}

export class ProviderModelResponse {
  @EnumField(PROVIDER_TYPES, { description: 'The `provider.type` of agents that can have it.' })
  readonly provider!: ProviderType;
  @StringField({ description: 'What `provider.model` says.' })
  readonly id!: string;
  @EnumField(FAMILIES, { description: 'Whose model it is.' })
  readonly family!: string;
  @BooleanField({ description: 'Agents of this provider have it where `provider.model` is omitted.' })
  readonly default!: boolean;
  @BooleanField({ description: 'Only agents with a key of their own (`useOwnApiKey`) can have it.' })
  readonly ownKeyOnly!: boolean;
  @IntegerField({ min: 1, description: 'How many tokens it can read and write at once.' })
  readonly contextTokens!: number;
  @BooleanField({
    description: "An agent's `provider.temperature` has an effect, while its `thinking` is not enabled.",
  })
  readonly temperature!: boolean;
  @EnumField(THINKING_KINDS, {
    description:
      '`none`: agents have no setting for it. `budget`: thinks where `thinking` is enabled, within a budget of tokens whatever its `effort`. ' +
      '`adaptive`: thinks as much as it takes, by the `effort`. `always`: thinks also where `thinking` is disabled or absent.',
  })
  readonly thinking!: ThinkingKind;
  @ObjectField(() => ModelCreditsResponse, {
    description: 'What runs on the managed key cost; those on an own key cost nothing.',
  })
  readonly credits!: ModelCreditsResponse;
}

export class ProviderModelListResponse {
  @ObjectListField(() => ProviderModelResponse, { description: 'By provider, the strongest model of each first.' })
  readonly models!: readonly ProviderModelResponse[];
}

export function providerModelView(provider: ProviderType, model: CatalogueModel): ProviderModelResponse {
  const { id, family, ownKeyOnly, contextTokens } = model;
  const { inputPerMillion: input, cachedInputPerMillion: cachedInput, outputPerMillion: output } = model.credits;
  return {
    ...{ provider, id, family, default: model.isDefault, ownKeyOnly, contextTokens },
    temperature: model.takesTemperature,
    thinking: model.alwaysThinks ? 'always' : model.thinking,
    credits: { input, cachedInput, output },
  };
}
