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
  @NumberField({ min: 0, description: 'For a million tokens of input that the provider reads from its cache.' })
  readonly cachedInput!: number;
  @NumberField({ min: 0, description: 'For a million tokens of output, thinking included.' })
  readonly output!: number;
}

export class ProviderModelResponse {
  @EnumField(PROVIDER_TYPES, { description: 'The `provider.type` of agents that can use the model.' })
  readonly provider!: ProviderType;
  @StringField({ description: 'The value of `provider.model`.' })
  readonly id!: string;
  @EnumField(FAMILIES, { description: 'The family of models that it belongs to.' })
  readonly family!: string;
  @BooleanField({ description: 'Agents of this provider use it if `provider.model` is omitted.' })
  readonly default!: boolean;
  @BooleanField({ description: 'Only agents with their own key (`useOwnApiKey`) can use it.' })
  readonly ownKeyOnly!: boolean;
  @IntegerField({ min: 1, description: 'The size of the context window, in tokens.' })
  readonly contextTokens!: number;
  @BooleanField({
    description: "The agent's `provider.temperature` has an effect while its `thinking` is not enabled.",
  })
  readonly temperature!: boolean;
  @EnumField(THINKING_KINDS, {
    description:
      '`none`: agents have no setting for it. `budget`: thinks if `thinking` is enabled, within a fixed budget of tokens, whatever its `effort`. ' +
      '`adaptive`: thinks as much as the task needs, guided by `effort`. `always`: thinks even if `thinking` is disabled or absent.',
  })
  readonly thinking!: ThinkingKind;
  @ObjectField(() => ModelCreditsResponse, {
    description: 'What runs on the managed key cost. Runs on an own key cost nothing.',
  })
  readonly credits!: ModelCreditsResponse;
}

export class ProviderModelListResponse {
  @ObjectListField(() => ProviderModelResponse, { description: 'By provider, strongest model first.' })
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
