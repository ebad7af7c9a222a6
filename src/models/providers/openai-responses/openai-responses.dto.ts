import { EnumField, LiteralField, ObjectField } from '../../../platform/http/index.js';
import {
  ChangedModelField,
  KeyedProviderBody,
  NewModelField,
  OPTIONAL,
  ProviderResponse,
} from '../shared/provider.dto.js';
import { OPENAI_MODELS } from './openai-responses.catalogue.js';
import {
  REASONING_EFFORTS,
  type ReasoningEffort,
  type TextVerbosity,
  VERBOSITIES,
} from './openai-responses.settings.js';

export class ReasoningBody {
  @EnumField(REASONING_EFFORTS, {
    optional: true,
    nullable: true,
    description: 'How hard the model thinks before it answers; null for the default of the model.',
  })
  readonly effort?: ReasoningEffort | null;
}

export class TextBody {
  @EnumField(VERBOSITIES, {
    optional: true,
    nullable: true,
    description: 'How long the replies are; null for the default of the model.',
  })
  readonly verbosity?: TextVerbosity | null;
}

class OpenAiProviderBody extends KeyedProviderBody {
  @LiteralField('openai-responses', { description: 'The Responses API of OpenAI.' })
  readonly type!: 'openai-responses';
  @NewModelField(OPENAI_MODELS)
  readonly model?: string;
  @ObjectField(() => ReasoningBody, { ...OPTIONAL, description: "Settings of the model's thinking." })
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, { ...OPTIONAL, description: "Settings of the model's replies." })
  readonly text?: TextBody;
}

class OpenAiProviderChangeBody {
  @LiteralField('openai-responses', { description: 'Must be the type that the agent has.' })
  readonly type!: 'openai-responses';
  @ChangedModelField(OPENAI_MODELS)
  readonly model?: string;
  @ObjectField(() => ReasoningBody, {
    ...OPTIONAL,
    description: "Settings of the model's thinking; unchanged when omitted.",
  })
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, { ...OPTIONAL, description: "Settings of the model's replies; unchanged when omitted." })
  readonly text?: TextBody;
}

class OpenAiProviderResponse extends ProviderResponse {
  @LiteralField('openai-responses', { description: 'The Responses API of OpenAI.' })
  readonly type!: 'openai-responses';
  @ObjectField(() => ReasoningBody, { description: "Settings of the model's thinking." })
  readonly reasoning!: ReasoningBody;
  @ObjectField(() => TextBody, { description: "Settings of the model's replies." })
  readonly text!: TextBody;
}

export const OPENAI_BODIES = {
  create: OpenAiProviderBody,
  change: OpenAiProviderChangeBody,
  response: OpenAiProviderResponse,
};
